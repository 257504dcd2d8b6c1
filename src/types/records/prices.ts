import type { Price, PricedUnit } from '../catalog.ts'
import { membersOf } from '../unions.ts'
import { type ObjectOf, object, type Shape } from './shapes.ts'

const amount = { shape: { type: 'number', least: 0 } as Shape<number>, isOptional: true } as const // `least` has no type of its own

const units = membersOf<PricedUnit>({
  search: true,
  page: true,
  credit: true,
  image: true,
  second: true,
  character: true,
})

const tokenPrices = {
  input: amount,
  output: amount,
  cacheRead: amount,
  cacheWrite: amount,
  audioInput: amount,
  audioOutput: amount,
  imageInput: amount,
  imageOutput: amount,
} as const

/** Prices in US dollars: of tokens by the million, of everything else each; there must be one. */
export const prices = object(
  { ...tokenPrices, ...Object.fromEntries(units.map((unit) => [unit, amount])) },
  { isFilled: true },
) as Shape<Price & ObjectOf<typeof tokenPrices>> // the units are those of `Price`
