import type { Price, PricedUnit, PriceTier, ServiceTierPrice } from '../catalog-types.ts'
import { listMembers } from '../unions.ts'
import { integer, list, map, type ObjectOf, object, type Shape, text } from './shapes.ts'

const priceField = { shape: { type: 'number', min: 0 } as Shape<number>, isOptional: true } as const // the cast keeps `min` from narrowing the type

const pricedUnits = listMembers<PricedUnit>({
  search: true,
  page: true,
  credit: true,
  image: true,
  second: true,
  character: true,
})

const tokenPrices = {
  input: priceField,
  output: priceField,
  cacheRead: priceField,
  cacheWrite: priceField,
  cacheWriteLong: priceField,
  audioInput: priceField,
  audioOutput: priceField,
  imageInput: priceField,
  imageOutput: priceField,
} as const

/** The names of prices per million tokens. */
export const tokenPriceNames: ReadonlySet<string> = new Set(Object.keys(tokenPrices))

/** Sizes and qualities use the vendors' names. */
const imagePrices = map({ name: text({ isNonEmpty: true, max: 64 }), of: { type: 'number', min: 0 }, max: 100 })

/** Prices for requests with more than `above` input tokens. */
const priceTier = object({ ...tokenPrices, above: { shape: integer(1, 1_000_000_000) } }) as Shape<PriceTier>

const tiersField = { shape: list(priceTier, { items: 'tiers', max: 10 }), isOptional: true } as const

/** Prices for service tiers, by the names that providers report. */
const serviceTierPrices = map({
  name: text({ isNonEmpty: true, max: 64 }),
  of: object({ ...tokenPrices, tiers: tiersField }) as Shape<ServiceTierPrice>,
  max: 10,
})

/** Prices in USD, per million tokens or per unit; at least one. */
export const prices = object(
  {
    ...tokenPrices,
    ...Object.fromEntries(pricedUnits.map((unit) => [unit, priceField])),
    minute: priceField,
    images: { shape: imagePrices, isOptional: true },
    tiers: tiersField,
    serviceTiers: { shape: serviceTierPrices, isOptional: true },
  },
  { isNonEmpty: true, rules: 'prices' },
) as Shape<Price & ObjectOf<typeof tokenPrices>> // `Price` has the same units
