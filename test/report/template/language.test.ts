import { expect, test } from "vitest";
import { render } from "../../../src/report/template/template.ts";
import { Float, type Value } from "../../../src/report/template/value.ts";

const variables = new Map<string, Value>([
  ["name", `it's "x" é <b>&`],
  ["success", false],
  ["fail_reason", null],
  ["stdout", "line 1\nline 2\n\nüñ 😀 'q'\n"],
  ["stderr", ""],
  ["exit_code", 0],
  ["cpu_seconds", new Float(2)],
  ["tiny", new Float(0.00001)],
  ["max_rss_bytes", 123456789],
  ["environment", new Map<string, Value>([["HOSTNAME", "h"], ["A", "b"]])], // biome-ignore format: one line
  ["command", ["a", "b c"]],
  ["n", 7],
  ["numbers", [3, 1, 2, 2]],
  ["words", ["b", "A", "c"]],
  ["d", new Map<string, Value>([["z", 1], ["a", [1, new Float(2.5), null, true, "x'y"]]])], // biome-ignore format: one line
  ["rows", [new Map<string, Value>([["k", "a"], ["v", 1]]), new Map<string, Value>([["k", "b"], ["v", 2]])]], // biome-ignore format: one line
]);

test.each([
  // text form of values
  ["{{ success }} {{ fail_reason }} {{ exit_code }} {{ cpu_seconds }} {{ tiny }}", "False None 0 2.0 1e-05"],
  [
    "{{ command }} {{ environment }} {{ d }}",
    `['a', 'b c'] {'HOSTNAME': 'h', 'A': 'b'} {'z': 1, 'a': [1, 2.5, None, True, "x'y"]}`,
  ],
  [
    "{{ 1e16 }} {{ 123456789012345.6 }} {{ 0.0001 }} {{ 1.0 }} {{ 1e22 }} {{ 0.1 + 0.2 }}",
    "1e+16 123456789012345.6 0.0001 1.0 1e+22 0.30000000000000004",
  ],
  [
    String.raw`{{ ["\n\t\x00\x7f\u200b\\", 'a"b', "a'\"b", "\U0001F600"] }}`,
    String.raw`['\n\t\x00\x7f\u200b\\', 'a"b', 'a\'"b', '😀']`,
  ],
  // unknown names (running 11.1 item 3)
  ["[{{ nope }}][{{ nope|default('x') }}][{{ ''|default('y', true) }}][{{ none|default('z') }}]", "[][x][y][None]"],
  ["[{{ fail_reason.foo }}][{{ d.nokey }}][{{ 'a' if success }}]", "[][][]"],
  // JSON (item 4)
  ["{% filter tojson %}{{ name }}{% endfilter %}", String.raw`"it\u0027s \"x\" \u00e9 \u003cb\u003e\u0026"`],
  [
    "{{ d|tojson }} {{ none|tojson }} {{ 1.5|tojson }}",
    String.raw`{"a": [1, 2.5, null, true, "x\u0027y"], "z": 1} null 1.5`,
  ],
  ["{{ numbers|tojson(2) }}", "[\n  3,\n  1,\n  2,\n  2\n]"],
  // white space, comments, raw
  ["one\n", "one"],
  ["two\n\n", "two\n"],
  ["a\r\nb\r\n", "a\nb"],
  ["{%- if n == 7 -%} seven {%- elif n -%} other {%- endif -%} !", "seven!"],
  ["x {{- n -}} y", "x7y"],
  ["a {# comment #} b {#- c -#} d", "a  bd"],
  ["{% raw %}{{ x }} {% if %}{% endraw %}! {%- raw -%}  {{ y }}  {%- endraw -%} z", "{{ x }} {% if %}!{{ y }}z"],
  // control
  [
    "{% for x in numbers %}{{ loop.index }}:{{ x }}{% if not loop.last %},{% endif %}{% else %}none{% endfor %}",
    "1:3,2:1,3:2,4:2",
  ],
  ["{% for x in [] %}x{% else %}none{% endfor %}{% for x in nope %}x{% endfor %}", "none"],
  ["{% for k, v in environment.items() %}{{ k }}={{ v }};{% endfor %}", "HOSTNAME=h;A=b;"],
  ["{% for x in numbers if x > 1 %}{{ x }}/{{ loop.length }} {% endfor %}", "3/3 2/3 2/3 "],
  [
    "{% set x = 5 %}{% for i in [1] %}{% set x = 6 %}{{ x }}{% endfor %}{{ x }}{% set a, b = 1, 2 %}{{ a }}{{ b }}",
    "6512",
  ],
  ["{% set ns = namespace(t=0) %}{% for i in numbers %}{% set ns.t = ns.t + i %}{% endfor %}{{ ns.t }}", "8"],
  ["{% set block %}<{{ n }}>{% endset %}{{ block }}{% with q = 3 %}{{ q }}{% endwith %}[{{ q }}]", "<7>3[]"],
  [
    "{% macro m(a, b=2) %}[{{ a }}-{{ b }}]{% endmacro %}{{ m(1) }}{{ m(1, b=3) }}{{ m() }}{{ m(none) }}",
    "[1-2][1-3][-2][None-2]",
  ],
  // operators
  [
    "{{ 7 * 3 // 2 }} {{ 10 * 4 % 3 }} {{ 2 ** 3 ** 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 6 / 2 }} {{ 1 + 2 * 3 - 4 }}",
    "10 1 64 -4 2 3.0 3",
  ],
  ["{{ 'a' ~ 1 ~ none ~ 2.0 }} {{ 'x' * 3 }} {{ [1] + [2] }} {{ 'a' 'b' }}", "a1None2.0 xxx [1, 2] ab"],
  [
    "{{ 1 in numbers }} {{ 9 not in numbers }} {{ 'a' in 'abc' }} {{ 'z' in d }} {{ 1 < 2 < 3 }} {{ 1 == 1.0 }} {{ not n }}",
    "True True True True True True False",
  ],
  ["{{ true and 'x' }} {{ '' or 'y' }} {{ 'yes' if success else 'no' }}", "x y no"],
  [
    "{{ stdout[:4] }}|{{ stdout[-5:-1] }}|{{ numbers[1:3] }}|{{ numbers[::-1] }}|{{ numbers[-1] }}|{{ d.a[2] }}|{{ d['a'].1 }}",
    "line| 'q'|[1, 2]|[2, 2, 1, 3]|2|None|2.5",
  ],
  ["{{ {'a': {'b': 1}}['a'].b }} {{ {'a': {'b': 1}} }}", "1 {'a': {'b': 1}}"],
  // filters
  [
    "{{ stdout|length }} {{ words|sort|join('-') }} {{ words|map('upper')|join }} {{ numbers|unique|sum }} {{ numbers|max }} {{ words|first }}{{ words|last }}",
    "24 A-b-c BAC 6 3 bc",
  ],
  [
    "{{ rows|map(attribute='k')|join(',') }} {{ rows|selectattr('v', 'gt', 1)|map(attribute='k')|list }} {{ numbers|reject('odd')|list }}",
    "a,b ['b'] [2, 2]",
  ],
  [
    "{{ 'hello world foo bar'|truncate(11) }}|{{ 'hello world foo bar'|truncate(11, true) }}|{{ 'hello world'|truncate(11) }}",
    "hello...|hello wo...|hello world",
  ],
  [
    "{{ 42.55|round }} {{ 42.55|round(1) }} {{ 42.55|round(1, 'floor') }} {{ 2.5|round }} {{ 0.125|round(2) }} {{ 5|round }}",
    "43.0 42.5 42.5 2.0 0.12 5",
  ],
  ["{{ '12'|int }} {{ '12.7'|int }} {{ 'x'|int(5) }} {{ '0x1f'|int(0, 16) }} {{ '1.5'|float }}", "12 12 5 31 1.5"],
  [
    "{{ name|e }} {{ name|upper }} {{ 'a b'|replace(' ', '_') }} {{ '  x '|trim }}|{{ 'a\\nb'|indent(2, true) }}",
    'it&#39;s &#34;x&#34; é &lt;b&gt;&amp; IT\'S "X" É <B>& a_b x|  a\n  b',
  ],
  [
    "{{ max_rss_bytes|filesizeformat }} {{ '%.1f of %s%% %05d'|format(2.25, 'x', 42) }} {{ 'a b/c&é'|urlencode }}",
    "123.5 MB 2.2 of x% 00042 a%20b/c%26%C3%A9",
  ],
  ["{{ d|dictsort|map('first')|list }} {{ [none, true, 1.0]|join('|') }}", "['a', 'z'] None|True|1.0"],
  // tests
  [
    "{{ n is odd }} {{ n is divisibleby 7 }} {{ nope is defined }} {{ nope is not defined }} {{ fail_reason is none }} {{ n is in [7] }} {{ d is mapping }}",
    "True True False True True True True",
  ],
  // methods
  [
    "{{ stdout.splitlines()[1] }} {{ 'a,b,c'.split(',', 1) }} {{ ' a  b '.split() }} {{ 'abc'.startswith('ab') }} {{ '-'.join(words) }} {{ d.get('q', 1) }}",
    "line 2 ['a', 'b,c'] ['a', 'b'] True b-A-c 1",
  ],
  ["{{ range(1, 10, 4)|list }} {{ range(3)|length }}", "[1, 5, 9] 3"],
])("%s", (template, expected) => {
  expect(render(template, variables)).toBe(expected);
});

test.each([
  ["{{ nope.x }}", "'nope' is undefined (line 1)"],
  ["a\n\n{{ 1 + none }}", "+ cannot join int and None (line 3)"],
  ["{% if true %}\n{{ none.a.b }}{% endif %}", "None has no attribute 'a' (line 2)"],
  ["{{ nope|tojson }}", "'nope' is undefined (line 1)"],
  ["{{ 1 / 0 }}", "division by zero (line 1)"],
  ["{{ [1] < 2 }}", "list and int have no order (line 1)"],
  ["{{ 5|truncate('x') }}", 'truncate: "length" is an integer, not str (line 1)'],
  ["{{ 'x'|upper(1) }}", "the filter takes at most 0 arguments (line 1)"],
  ["{{ name() }}", '"name" cannot be called (line 1)'],
])("%s fails: %s", (template, message) => {
  expect(() => render(template, variables)).toThrow(message);
});
