import type { TokenUsage } from '../../formats/format.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { ImageRequest, Images } from './image.ts'
import { type PixelSize, pixelsIn, type Tier, tierIn, tierOf } from './sizes.ts'

/**
 * Names the usage of an answer by what its images may have a price of: quality and size as they were asked for, else as the vendor says that they
 * are. A size in pixels stands for its tier as well.
 */
export function withPriceNames(usage: TokenUsage, asked: ImageRequest, given: Images | undefined): TokenUsage {
  const { quality, size, tier } = factsIn(given?.said ?? {})
  const isSized = asked.size !== undefined || asked.tier !== undefined
  const imageNames = [
    ...priceNames({
      quality: textIn(asked.options.quality) ?? quality,
      size: isSized ? asked.size : size,
      tier: isSized ? asked.tier : tier,
    }),
    ...(usage.imageNames ?? []),
  ]
  return imageNames.length > 0 ? { ...usage, imageNames } : usage
}

/** The names of what a vendor says of an image. */
export const saidNames = (said: JsonObject): string[] => priceNames(factsIn(said))

interface Facts {
  quality: string | undefined
  size: PixelSize | undefined
  tier: Tier | undefined
}

const factsIn = ({ quality, size }: JsonObject): Facts => ({
  quality: textIn(quality),
  size: pixelsIn(textIn(size)),
  tier: tierIn(textIn(size)),
})

/** The most exact ones first. */
function priceNames({ quality, size, tier }: Facts): string[] {
  const sizes = [size && `${size.width}x${size.height}`, tier ?? (size && tierOf(size))].filter(
    (one) => one !== undefined,
  )
  if (quality === undefined) return sizes
  return [...sizes.flatMap((one) => [`${quality}:${one}`, `${one}:${quality}`]), ...sizes, quality]
}

const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== 'auto' ? value : undefined
