import type { VendorContext } from '../kind-adapters.ts'
import type { ImageRequest } from './image.ts'

export interface PixelSize {
  width: number
  height: number
}

/** The names of the size tiers, from small to large. */
export const SIZE_TIERS = ['512', '1K', '2K', '4K'] as const
export type Tier = (typeof SIZE_TIERS)[number]

const MAX_MEGAPIXELS: Readonly<Record<Tier, number>> = {
  '512': 0.4,
  '1K': 1.6,
  '2K': 6,
  '4K': Number.POSITIVE_INFINITY,
}

/** Returns the tier for a size in pixels. */
export const getTier = ({ width, height }: PixelSize): Tier =>
  SIZE_TIERS.find((tier) => (width * height) / 1_000_000 <= MAX_MEGAPIXELS[tier]) ?? '4K'

/** Parses a size tier's name. */
export const parseTier = (text: string | undefined): Tier | undefined =>
  SIZE_TIERS.find((tier) => tier === text?.toUpperCase())

/** Parses a size such as `1536x1024`. */
export function parsePixels(text: string | undefined): PixelSize | undefined {
  const [, width, height] = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(text ?? '') ?? []
  return width === undefined ? undefined : { width: Number(width), height: Number(height) }
}

/** The ratios that most vendors support. */
export const ASPECT_RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const

/** Parses a ratio such as `16:9`, or returns `undefined` if the text isn't one. */
export function parseRatio(text: string): number | undefined {
  const [, width, height] = /^(\d{1,4}):(\d{1,4})$/.exec(text) ?? []
  const ratio = Number(width) / Number(height)
  return Number.isFinite(ratio) && ratio > 0 ? ratio : undefined
}

/** Finds the closest ratio by comparing logarithms. */
export function findNearestRatio(ratio: number, ratios: readonly string[]): string {
  const getDistance = (name: string) => Math.abs(Math.log(ratio) - Math.log(parseRatio(name) ?? 1))
  return ratios.reduce((nearest, name) => (getDistance(name) < getDistance(nearest) ? name : nearest))
}

/** Reports a ratio that conflicts with the size; the size takes precedence. */
export function recordRatioConflict({ size, aspectRatio = '' }: ImageRequest, { warnings }: VendorContext): void {
  const ratio = parseRatio(aspectRatio)
  if (size && ratio !== undefined && !areSimilarRatios(ratio, size.width / size.height))
    warnings.recordDrop('aspect_ratio')
}

/** Returns whether two ratios are nearly equal; 1920x1088 counts as 16:9. */
const areSimilarRatios = (a: number, b: number) => Math.abs(a / b - 1) < 0.02

/** Chooses a ratio and a tier for vendors that don't support pixels. Reports deviations from the request. */
export function chooseRatioAndTier(
  request: ImageRequest,
  context: VendorContext,
  { ratios = ASPECT_RATIOS, tiers = SIZE_TIERS }: { ratios?: readonly string[]; tiers?: readonly Tier[] } = {},
): { ratio?: string; tier?: Tier } {
  const { size, aspectRatio, tier } = request
  const { warnings } = context
  recordRatioConflict(request, context)
  const requestedRatio = size
    ? size.width / size.height
    : aspectRatio === undefined
      ? undefined
      : parseRatio(aspectRatio)
  const requestedTier = tier ?? (size && getTier(size))
  const ratio = requestedRatio === undefined ? undefined : findNearestRatio(requestedRatio, ratios)
  const chosenTier = requestedTier && findNearestTier(requestedTier, tiers)
  const isExactRatio = requestedRatio === undefined || areSimilarRatios(parseRatio(ratio ?? '') ?? 0, requestedRatio)
  if (!isExactRatio) warnings.recordChange(size ? 'size' : 'aspect_ratio', 'replaced')
  else if (chosenTier !== requestedTier) warnings.recordChange(size ? 'size' : 'resolution', 'replaced')
  return { ...(ratio !== undefined && { ratio }), ...(chosenTier && { tier: chosenTier }) }
}

/** Returns the largest tier up to the requested one, or else the smallest. */
function findNearestTier(requestedTier: Tier, tiers: readonly Tier[]): Tier | undefined {
  const smallerTiers = tiers.filter((tier) => SIZE_TIERS.indexOf(tier) <= SIZE_TIERS.indexOf(requestedTier))
  return smallerTiers.at(-1) ?? tiers[0]
}

/** The edge length of each tier's square images, in pixels. */
const EDGE_BY_TIER: Readonly<Record<Tier, number>> = { '512': 512, '1K': 1_024, '2K': 2_048, '4K': 4_096 }

const PIXEL_STEP = 16

/** Chooses pixels, in multiples of 16, for vendors that only support pixels. Returns `undefined` if the request has no size. */
export function choosePixels(
  request: ImageRequest,
  context: VendorContext,
  { min = PIXEL_STEP, max }: { min?: number; max: number },
): PixelSize | undefined {
  const { size, aspectRatio, tier } = request
  const { warnings } = context
  recordRatioConflict(request, context)
  const ratio = aspectRatio === undefined ? undefined : parseRatio(aspectRatio)
  if (!size && ratio === undefined && !tier) return undefined
  const edge = EDGE_BY_TIER[tier ?? '1K']
  const requestedSize = size ?? { width: edge * Math.sqrt(ratio ?? 1), height: edge / Math.sqrt(ratio ?? 1) }
  const scale = Math.min(1, max / Math.max(requestedSize.width, requestedSize.height))
  const roundToStep = (pixels: number) => Math.max(min, Math.round((pixels * scale) / PIXEL_STEP) * PIXEL_STEP)
  const chosenSize = { width: roundToStep(requestedSize.width), height: roundToStep(requestedSize.height) }
  if (!size && tier && getTier(chosenSize) !== tier) warnings.recordChange('resolution', 'replaced')
  if (size && (chosenSize.width !== size.width || chosenSize.height !== size.height))
    warnings.recordChange('size', 'replaced')
  return chosenSize
}

/** Writes a size such as `1536x1024`, for vendors that only support pixels. Returns `undefined` if the request has no size. */
export function chooseSizeText(request: ImageRequest, context: VendorContext): string | undefined {
  if (request.size) recordRatioConflict(request, context)
  const pixels = request.size ?? choosePixels(request, context, { max: 3_840 })
  return pixels && `${pixels.width}x${pixels.height}`
}
