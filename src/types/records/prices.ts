import type { Price, PricedUnit } from '../catalog.ts'
import { membersOf } from '../unions.ts'
import { map, type ObjectOf, object, type Shape, text } from './shapes.ts'

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

/** The names of sizes and qualities of images are those of vendors. */
const images = map({ name: text({ isFilled: true, most: 64 }), of: { type: 'number', least: 0 }, most: 100 })

/** Prices in US dollars: of tokens by the million, of everything else each; there must be one. */
export const prices = object(
  {
    ...tokenPrices,
    ...Object.fromEntries(units.map((unit) => [unit, amount])),
    minute: amount,
    images: { shape: images, isOptional: true },
  },
  { isFilled: true, rules: 'prices' },
) as Shape<Price & ObjectOf<typeof tokenPrices>> // the units are those of `Price`
