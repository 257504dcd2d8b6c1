import * as v from 'valibot'
import { allOptional, number, text } from './output-schemas.ts'

const tokenPrices = {
  ...{ input: number, output: number, cacheRead: number, cacheWrite: number },
  ...{ audioInput: number, audioOutput: number, imageInput: number, imageOutput: number },
}
const priceTier = v.object({ above: number, ...allOptional(tokenPrices) })

/** The price of a model, in results. */
export const price = v.object(
  allOptional({
    ...tokenPrices,
    ...{ search: number, page: number, credit: number, image: number, second: number, character: number },
    ...{ minute: number, images: v.record(text, number), tiers: v.array(priceTier) },
  }),
)
