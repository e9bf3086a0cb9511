import { expect, test } from "vitest";
import { argvOf, loggedCommand } from "../../src/execution/command.ts";

test.each([
  ["echo $HOME", "/bin/bash", ["/bin/bash", "-c", "echo $HOME"]],
  ["echo $HOME", "", ["/bin/sh", "-c", "echo $HOME"]],
  [["echo", "$HOME", "*"], "/bin/bash", ["echo", "$HOME", "*"]],
])("%j with shell %j", (command, shell, argv) => {
  expect(argvOf(command, shell)).toEqual(argv);
});

test("a log line shows a command quoted, and not without end", () => {
  expect(loggedCommand(["sh", "-c", 'echo "a\nb"'])).toBe(String.raw`["sh","-c","echo \"a\nb\""]`);
  const long = loggedCommand(["echo", "x".repeat(200_000)]);
  expect(long).toHaveLength(507);
  expect(long.endsWith("… (cut)")).toBe(true);
});
