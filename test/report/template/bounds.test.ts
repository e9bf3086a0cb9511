/** A template reaches nothing but its variables, and always comes to an end (issue: sandbox, bounded rendering). */
import fc from "fast-check";
import { expect, test } from "vitest";
import { render, templateProblem } from "../../../src/report/template/template.ts";
import { TemplateError, type Value } from "../../../src/report/template/value.ts";

const variables = new Map<string, Value>([
  ["name", "backup"],
  ["environment", new Map<string, Value>([["HOSTNAME", "h"]])],
  ["command", ["a"]],
  ["stdout", "{{ 7*7 }} {% raw %} {{ environment.HOSTNAME }}"],
]);

test.each([
  "{{ name.constructor }}",
  "{{ name['constructor'] }}",
  "{{ name.__proto__ }}",
  "{{ environment.__proto__ }}{{ environment.constructor }}{{ environment.hasOwnProperty }}{{ environment.size }}{{ environment.set }}",
  "{{ command.constructor }}{{ command.push }}{{ command['map'] }}",
  "{{ process }}{{ global }}{{ globalThis }}{{ require }}{{ this }}{{ self }}{{ range }}{{ constructor }}{{ __proto__ }}{{ toString }}",
  "{{ range.constructor }}",
])("nothing of the host is visible: %s", (template) => {
  let shown: string;
  try {
    shown = render(template, variables);
  } catch (error) {
    expect(error).toBeInstanceOf(TemplateError);
    return;
  }
  expect(shown).toBe("");
});

test.each([
  "{{ name.constructor('return 1')() }}",
  "{{ ''.constructor.constructor('return process')() }}",
  "{{ name.valueOf() }}",
  "{{ environment.set('a', 1) }}",
  "{{ command.push(1) }}",
  "{{ command.map(name) }}",
  "{{ (1).toFixed(2) }}",
])("nothing of the host can be called: %s", (template) => {
  expect(() => render(template, variables)).toThrow(TemplateError);
});

test("text that looks like a template in a variable stays text", () => {
  expect(render("<{{ stdout }}>", variables)).toBe("<{{ 7*7 }} {% raw %} {{ environment.HOSTNAME }}>");
});

test.each([
  ["{% for i in range(1000000000) %}x{% endfor %}", "range is longer than 100000"],
  ["{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}", "too many steps"],
  ["{% for i in range(1000) %}{% for j in range(1000) %}x{% endfor %}{% endfor %}", "too many steps"],
  ["{{ 'x' * 1000000000 }}", "grows beyond 4000000 characters"],
  ["{{ 'x' * 10 ** 15 }}", "grows beyond 4000000 characters"],
  ["{{ 2 ** 10000 }}", "the number is too large"],
  [
    "{% set s = 'x' %}{% for i in range(40) %}{% set s %}{{ s }}{{ s }}{% endset %}{{ s }}{% endfor %}{% set ns = namespace(s='xx') %}{% for i in range(40) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
    "grows beyond",
  ],
  ["{{ ('x' * 3000)|replace('x', 'y' * 3000) }}", "grows beyond"],
  ["{{ 'x'|indent(10000000) }}", "grows beyond"],
  ["{{ '%999999999d'|format(1) }}", "width is too large"],
  [
    "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}",
    "too many steps",
  ],
  [
    "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l|tojson }}",
    "too many steps",
  ],
  ["{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "calls itself too deeply"],
  ["{{ range(100000)|unique|list }}", "too many steps"],
])("comes to an end with an error: %#", (template, message) => {
  expect(() => render(template, variables)).toThrow(message);
});

test.each([
  ["{{ unclosed", "the tag is never closed with }} (line 1)"],
  ["a\n{% if x %}\nb", "{% if %} is never closed with {% endif %} (line 2)"],
  ["{% endif %}", "unexpected {% endif %} (line 1)"],
  ["\n{# x", "the comment is never closed with #} (line 2)"],
  ["{% raw %}", "the raw block is never closed with {% endraw %} (line 1)"],
  ["{{ 'x }}", "unexpected a text that is never closed (line 1)"],
  ["{{ a b }}", 'unexpected "b" (line 1)'],
  ["{{ a + }}", "the tag ends too early (line 1)"],
  ["{{ (a }}", 'unexpected "}" (line 1)'],
  ["{{ a|nofilter }}", 'there is no filter "nofilter" (line 1)'],
  ["{{ a is notest }}", 'there is no test "notest" (line 1)'],
  ["{% include 'x' %}", "{% include %} is not available in report templates (line 1)"],
  ["{% import 'x' as y %}", "{% import %} is not available in report templates (line 1)"],
  ["{% extends 'x' %}", "{% extends %} is not available in report templates (line 1)"],
  ["{% frobnicate %}", "unexpected {% frobnicate %} (line 1)"],
  [`{{ ${"(".repeat(5000)}1${")".repeat(5000)} }}`, "the expression is nested too deeply (line 1)"],
  ["{% if a %}".repeat(200) + "{% endif %}".repeat(200), "blocks are nested too deeply (line 1)"],
])("a syntax error is found at load: %#", (template, message) => {
  expect(templateProblem(template)).toBe(message);
});

test("a sound template has no problem, however often it is asked", () => {
  for (let i = 0; i < 1_200; i++) expect(templateProblem(`{{ name }} ${i}`)).toBeNull();
});

const pieces = fc.constantFrom(
  ..."{{ }} {% %} {# #} - + if else elif endif for endfor in set endset raw endraw filter endfilter macro endmacro is not and or name stdout nope environment command range loop namespace tojson upper join length default map list sort . , : | ( ) [ ] { } = == < ~ * ** / // % 'x' \"y\" 1 2.5 1e9 99 none true \n \\ é 😀".split(
    " ",
  ),
);

test("whatever stands in a template, it renders or fails as a template does", () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), fc.boolean(), (words, spaced) => {
      const template = words.join(spaced ? " " : "");
      try {
        expect(typeof render(template, variables)).toBe("string");
      } catch (error) {
        expect(error).toBeInstanceOf(TemplateError);
      }
    }),
    { numRuns: 3_000 },
  );
});

test("text without tags is itself", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      fc.pre(!/\{[{%#]|\r/.test(text));
      expect(render(text, variables)).toBe(text.replace(/\n$/, ""));
    }),
  );
});

test("values of variables come out as they are, and as JSON that reads back", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const one = new Map<string, Value>([["v", text]]);
      expect(render("{{ v }}", one)).toBe(text);
      const json = render("{{ v|tojson }}", one);
      expect(json).toMatch(/^[\x20-\x7e]*$/);
      expect(JSON.parse(json)).toBe(text);
      const long = `${text}é`.repeat(25_000 / (text.length + 1)); // escaped another way, to the same end
      const escaped = JSON.stringify(long).replace(
        /[\u007f-\uffff<>&']/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
      expect(render("{{ v|tojson }}", new Map([["v", long]]))).toBe(escaped);
    }),
  );
});
