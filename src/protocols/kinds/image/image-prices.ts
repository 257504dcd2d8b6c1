import type { JsonObject } from '../../../lib/json.ts'
import { assignToMedium } from '../../formats/canonical/media-tokens.ts'
import type { TokenUsage } from '../../formats/format.ts'
import type { ImageRequest, ImageResponse } from './image.ts'
import { getTier, type PixelSize, parsePixels, parseTier, type Tier } from './image-sizes.ts'

/**
 * Adds the names that may identify the image price. Uses the requested quality and size, or else the ones that the vendor reports. A size in pixels
 * also gets the name of its tier.
 */
export function addPriceNames(
  reported: TokenUsage,
  request: ImageRequest,
  response: ImageResponse | undefined,
): TokenUsage {
  const usage = assignToMedium(reported, 'outputTokens', 'outputImageTokens')
  const { quality, size, tier } = readPriceAttributes(response?.metadata ?? {})
  const hasRequestedSize = request.size !== undefined || request.tier !== undefined
  const imageNames = [
    ...listPriceNames({
      quality: readText(request.options.quality) ?? quality,
      size: hasRequestedSize ? request.size : size,
      tier: hasRequestedSize ? request.tier : tier,
    }),
    ...(usage.imageNames ?? []),
  ]
  return imageNames.length > 0 ? { ...usage, imageNames } : usage
}

/** Returns the price names for a vendor's image metadata. */
export const getPriceNames = (metadata: JsonObject): string[] => listPriceNames(readPriceAttributes(metadata))

interface PriceAttributes {
  quality: string | undefined
  size: PixelSize | undefined
  tier: Tier | undefined
}

const readPriceAttributes = ({ quality, size }: JsonObject): PriceAttributes => ({
  quality: readText(quality),
  size: parsePixels(readText(size)),
  tier: parseTier(readText(size)),
})

/** Lists the price names, most specific first. */
function listPriceNames({ quality, size, tier }: PriceAttributes): string[] {
  const sizes = [size && `${size.width}x${size.height}`, tier ?? (size && getTier(size))].filter(
    (name) => name !== undefined,
  )
  if (quality === undefined) return sizes
  return [...sizes.flatMap((size) => [`${quality}:${size}`, `${size}:${quality}`]), ...sizes, quality]
}

const readText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== 'auto' ? value : undefined
