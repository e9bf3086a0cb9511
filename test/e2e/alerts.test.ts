import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { cronstable, withFolder } from "../support/daemon-process.ts";
import { type MailServerForTest, mailServer, type ReceivedMail } from "../support/mail-server.ts";
import { webReceiver } from "../support/web-receiver.ts";

/** The example as it is, but for the mail server's port (a number, which no variable can hold) and a shorter wait. */
function example(port: number): string {
  const text = readFileSync(new URL("../../examples/alerts.yaml", import.meta.url), "utf8");
  return text.replaceAll("smtpPort: 1025", `smtpPort: ${port}`).replaceAll('"*/10 ', '"*/4 ');
}

async function mailAbout(word: string, { received }: MailServerForTest): Promise<ReceivedMail> {
  for (let count = 1; ; count++) {
    const mails = await received(count);
    const found = mails.find((mail) => mail.header("subject")?.includes(word));
    if (found !== undefined) return found;
  }
}

test("the example of alerts mails, posts and runs a shell reporter", () =>
  withFolder(async ({ path, write }) => {
    const mails = await mailServer();
    const chat = await webReceiver();
    const alerts = `${path}/alerts.txt`;
    const daemon = cronstable(["-c", write("alerts.yaml", example(mails.port))], {
      ALERTS_WEBHOOK_URL: `${chat.url}/TOPSECRET`,
      ALERTS_FILE: alerts,
    });
    try {
      const failure = await mailAbout("backup", mails);
      const success = await mailAbout("report of", mails);
      await chat.received(1);
      daemon.child.kill("SIGTERM");
      expect(await daemon.ended).toBe(0);

      expect(failure.header("subject")).toMatch(/^\[cron\] backup failed on \S+: command exited with code 1$/);
      expect(failure.to).toEqual(["ops@localhost", "oncall@localhost"]);
      expect(failure.text).toContain("STDOUT:\r\n---\r\ncopying /data\r\n");
      expect(failure.text).toContain("STDERR:\r\nno space left on device\r\n");
      expect(success.to).toEqual(["sales@localhost"]);
      expect(success.header("subject")).toMatch(/^report of \d{4}-\d\d-\d\d$/);
      expect(success.text.trim()).toBe("3 new customers");
      expect(JSON.parse(chat.requests[0]?.body ?? "").text).toMatch(/^Cron job '[\w-]+' failed\n/);
      expect(readFileSync(alerts, "utf8")).toMatch(/^backup exited with 1: no space left on device$/m);
      expect(daemon.stderr()).toContain("Cron job backup: reporting permanent failure");
      expect(daemon.stderr()).not.toContain("TOPSECRET");
    } finally {
      daemon.child.kill("SIGKILL");
      await mails.close();
      await chat.close();
    }
  }));
