import type { Product } from "./product.ts";

/** The dashboard, one self-contained page (http 7.12). */
export interface UiAssets {
  readonly page: Product;
}
