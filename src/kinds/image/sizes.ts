import type { VendorContext } from '../forms.ts'
import type { ImageRequest } from './image.ts'

export interface PixelSize {
  width: number
  height: number
}

/** A size by its name, in the order of their pixels. */
export const TIERS = ['512', '1K', '2K', '4K'] as const
export type Tier = (typeof TIERS)[number]

/** The most megapixels of each. */
const MEGAPIXELS: Readonly<Record<Tier, number>> = { '512': 0.4, '1K': 1.6, '2K': 6, '4K': Number.POSITIVE_INFINITY }

/** The tier for so many pixels. */
export const tierOf = ({ width, height }: PixelSize): Tier =>
  TIERS.find((tier) => (width * height) / 1_000_000 <= MEGAPIXELS[tier]) ?? '4K'

/** The tier of that name. */
export const tierIn = (text: string | undefined): Tier | undefined => TIERS.find((tier) => tier === text?.toUpperCase())

/** Pixels such as `1536x1024`. */
export function pixelsIn(text: string | undefined): PixelSize | undefined {
  const [, width, height] = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(text ?? '') ?? []
  return width === undefined ? undefined : { width: Number(width), height: Number(height) }
}

/** The ratios that most vendors have. */
export const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const

/** A ratio as a number; `undefined` for a text that is none. */
export function ratioIn(text: string): number | undefined {
  const [, width, height] = /^(\d{1,4}):(\d{1,4})$/.exec(text) ?? []
  const ratio = Number(width) / Number(height)
  return Number.isFinite(ratio) && ratio > 0 ? ratio : undefined
}

/** The ratio that is nearest, by the distance of their logarithms. */
export function nearestRatio(ratio: number, ratios: readonly string[] = RATIOS): string {
  const distance = (name: string) => Math.abs(Math.log(ratio) - Math.log(ratioIn(name) ?? 1))
  return ratios.reduce((best, name) => (distance(name) < distance(best) ? name : best))
}

/** Names a ratio that is another than that of the size, which counts. */
export function noteRatio({ size, aspectRatio = '' }: ImageRequest, { warnings }: VendorContext): void {
  const ratio = ratioIn(aspectRatio)
  if (size && ratio !== undefined && !isNear(ratio, size.width / size.height)) warnings.noteDropped('aspect_ratio')
}

/** 1920x1088 is 16:9. */
const isNear = (one: number, other: number) => Math.abs(one / other - 1) < 0.02

/** Ratio and tier, for vendors that take no pixels. What is not exactly what was asked for is noted. */
export function shapeOf(
  asked: ImageRequest,
  context: VendorContext,
  { ratios = RATIOS, tiers = TIERS }: { ratios?: readonly string[]; tiers?: readonly Tier[] } = {},
): { ratio?: string; tier?: Tier } {
  const { size, aspectRatio, tier } = asked
  const { warnings } = context
  noteRatio(asked, context)
  const wanted = size ? size.width / size.height : aspectRatio === undefined ? undefined : ratioIn(aspectRatio)
  const wantedTier = tier ?? (size && tierOf(size))
  const ratio = wanted === undefined ? undefined : nearestRatio(wanted, ratios)
  const taken = wantedTier && nearestTier(wantedTier, tiers)
  const isExact = wanted === undefined || isNear(ratioIn(ratio ?? '') ?? 0, wanted)
  if (!isExact) warnings.noteChanged(size ? 'size' : 'aspect_ratio', 'replaced')
  else if (taken !== wantedTier) warnings.noteChanged(size ? 'size' : 'resolution', 'replaced')
  return { ...(ratio !== undefined && { ratio }), ...(taken && { tier: taken }) }
}

/** The tier, else the next one that is smaller, else the smallest. */
function nearestTier(wanted: Tier, tiers: readonly Tier[]): Tier | undefined {
  const smaller = tiers.filter((tier) => TIERS.indexOf(tier) <= TIERS.indexOf(wanted))
  return smaller.at(-1) ?? tiers[0]
}

/** Edge of a square of a tier. */
const EDGES: Readonly<Record<Tier, number>> = { '512': 512, '1K': 1_024, '2K': 2_048, '4K': 4_096 }

/** Pixels, for vendors that take nothing else, rounded to multiples of `step`; `undefined` where nothing was asked for. */
export function pixelsOf(
  asked: ImageRequest,
  context: VendorContext,
  { step, least = step, most }: { step: number; least?: number; most: number },
): PixelSize | undefined {
  const { size, aspectRatio, tier } = asked
  const { warnings } = context
  noteRatio(asked, context)
  const ratio = aspectRatio === undefined ? undefined : ratioIn(aspectRatio)
  if (!size && ratio === undefined && !tier) return undefined
  const edge = EDGES[tier ?? '1K']
  const wanted = size ?? { width: edge * Math.sqrt(ratio ?? 1), height: edge / Math.sqrt(ratio ?? 1) }
  const scale = Math.min(1, most / Math.max(wanted.width, wanted.height))
  const rounded = (pixels: number) => Math.max(least, Math.round((pixels * scale) / step) * step)
  const taken = { width: rounded(wanted.width), height: rounded(wanted.height) }
  if (!size && tier && tierOf(taken) !== tier) warnings.noteChanged('resolution', 'replaced')
  if (size && (taken.width !== size.width || taken.height !== size.height)) warnings.noteChanged('size', 'replaced')
  return taken
}

/** In OpenAI's words, for vendors that take pixels alone; `undefined` where nothing was asked for. */
export function shapeText(asked: ImageRequest, context: VendorContext): string | undefined {
  if (asked.size) noteRatio(asked, context)
  const pixels = asked.size ?? pixelsOf(asked, context, { step: 16, most: 3_840 })
  return pixels && `${pixels.width}x${pixels.height}`
}
