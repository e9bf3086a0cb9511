import type { Clock } from "../platform/clock.ts";
import { PRODUCT_FRESH_MS } from "./limits.ts";
import type { Product } from "./product.ts";

/** Gives the product of the moment, at once when there is a fresh one. */
export type SharedProduct = () => Product | Promise<Product>;

/**
 * One product for all who ask within a second; those who ask while it is built wait for it (http 3.5).
 *
 * @param revision as in `ControlPlane`: a product that was begun under another one is given to nobody who asks later
 */
export function sharedProduct(clock: Clock, revision: () => number, build: () => Promise<Product>): SharedProduct {
  let kept: { readonly product: Product; readonly revision: number; readonly at: number } | null = null;
  let building: { readonly product: Promise<Product>; readonly revision: number } | null = null;

  const begin = (begun: number): Promise<Product> => {
    const at = clock.elapsedNow();
    const product = build().then(
      (built) => {
        if (revision() === begun) kept = { product: built, revision: begun, at };
        if (building === own) building = null;
        return built;
      },
      (error: unknown) => {
        if (building === own) building = null;
        throw error;
      },
    );
    const own = { product, revision: begun };
    building = own;
    return product;
  };

  return () => {
    const now = revision();
    if (kept !== null && kept.revision === now && clock.elapsedNow() - kept.at < PRODUCT_FRESH_MS) return kept.product;
    if (building !== null && building.revision === now) return building.product;
    return begin(now);
  };
}
