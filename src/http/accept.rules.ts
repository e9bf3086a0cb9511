/** Whether the client names `application/json`, whatever weight it gives it; ranges with stars do not count (http 7.1). */
export function asksForJson(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  return accept.split(",").some((range) => (range.split(";", 1)[0] ?? "").trim().toLowerCase() === "application/json");
}

/** Whether the client names `gzip` and does not give it the weight 0; `*` does not count (http 3.5). */
export function takesGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  return acceptEncoding.split(",").some((coding) => {
    const [name = "", ...parameters] = coding.split(";");
    return name.trim().toLowerCase() === "gzip" && parameters.every(isPositiveWeight);
  });
}

function isPositiveWeight(parameter: string): boolean {
  const weight = /^\s*q\s*=\s*([0-9.]+)\s*$/i.exec(parameter)?.[1];
  return weight === undefined || Number(weight) > 0;
}
