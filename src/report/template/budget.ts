import { RENDER_STEPS_MAX, RENDERED_CHARS_MAX } from "../limits.ts";
import { TemplateError } from "./value.ts";

const CHARS_A_STEP = 100;
const DEAR_CHARS_A_STEP = 5;
const ITEMS_A_STEP = 10;

/**
 * What one rendering may still cost. Every evaluated node, text and list is paid for here, so a template that would loop or grow without
 * end stops with an error, on the event loop's own thread and within some tens of milliseconds.
 */
export class Budget {
  #stepsLeft: number;

  constructor(steps: number = RENDER_STEPS_MAX) {
    this.#stepsLeft = steps;
  }

  /** @throws TemplateError when the rendering has taken too many steps */
  spend(steps: number): void {
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) throw new TemplateError("the template takes too many steps to render");
  }

  /** Pays for making or reading a text of that many characters; asked before it is made. */
  text(chars: number): void {
    if (chars > RENDERED_CHARS_MAX) throw new TemplateError(`the text grows beyond ${RENDERED_CHARS_MAX} characters`);
    this.spend(chars / CHARS_A_STEP);
  }

  /** Pays for work on a text that goes character by character. */
  eachCharacter(chars: number): void {
    this.text(chars);
    this.spend(chars / DEAR_CHARS_A_STEP);
  }

  /** Pays for making or reading a list of that many items. */
  list(items: number): void {
    this.spend(items / ITEMS_A_STEP);
  }
}
