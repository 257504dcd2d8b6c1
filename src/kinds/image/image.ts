import type { EmbeddedError } from '../../formats/format.ts'
import { fromBase64, toBase64 } from '../../lib/bytes.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Division, Used, VendorContext, VendorForm } from '../forms.ts'
import type { PixelSize, Tier } from './sizes.ts'

/** A picture of a request: its bytes, or where they are (https). */
export type Picture =
  | { bytes: Uint8Array; type: string; fileName?: string | undefined; url?: undefined }
  | { url: string }

/** A request for images, of whichever form. */
export interface ImageRequest {
  prompt: string
  /** How many are wanted, at least one. */
  count: number
  /** In pixels; absent: `auto`, or by ratio and tier. */
  size?: PixelSize | undefined
  /** Such as `16:9`. */
  aspectRatio?: string | undefined
  tier?: Tier | undefined
  /** What is changed, or shown as an example; in the order of the client. Without any the image is made from the prompt alone. */
  pictures: readonly Picture[]
  /** Which parts of the first picture are changed: those that are transparent in it. */
  mask?: Picture | undefined
  /** A copy of the picture on which somebody has drawn what to change. */
  markup?: Picture | undefined
  /** Has it come as a form? */
  isForm: boolean
  /** Does the client want addresses in place of base64? */
  wantsUrl: boolean
  /** All other members of the body, by the names of OpenAI. */
  options: JsonObject
}

/** An image of an answer. */
export interface MadeImage {
  base64?: string | undefined
  url?: string | undefined
  /** The media type, where the vendor tells it. */
  type?: string | undefined
  revisedPrompt?: string | undefined
}

/** An answer of whichever form. */
export interface Images extends Used {
  images: readonly MadeImage[]
  /** Facts that the vendor reports about all images, by OpenAI's names: `quality`, `background`. */
  said?: JsonObject | undefined
}

export type ImageVendor = VendorForm<ImageRequest, Images>

/** Vendors that make one image at a time are asked several times. */
export const imageDivision: Division<ImageRequest, Images> = {
  sizeOf: ({ count }) => count,
  slice: (asked, start, end) => ({ ...asked, count: end - start }),
  join: (given) => ({ ...given[0], images: given.flatMap(({ images }) => images) }),
  isPartial: true,
}

/** A picture of a client: a data URL, or an https address; `undefined` for any other text. */
export function pictureAt(text: string): Picture | undefined {
  const [, type = 'image/png', data] = DATA_URL.exec(text) ?? []
  if (data !== undefined) {
    try {
      return { bytes: fromBase64(data), type: type.toLowerCase() }
    } catch {
      return undefined
    }
  }
  return URL.canParse(text) && new URL(text).protocol === 'https:' ? { url: text } : undefined
}

const DATA_URL = /^data:(image\/[\w.+-]+)?;base64,([A-Za-z\d+/=_-]+)$/

/** As vendors take it that read addresses: its own, or a data URL. */
export const addressOf = (picture: Picture): string =>
  picture.url ?? ('bytes' in picture ? `data:${picture.type};base64,${toBase64(picture.bytes)}` : '')

/** The bytes of a picture, for vendors that read no addresses. Refuses one by its address where the gateway fetches none. */
export function bytesOf(picture: Picture, { warnings, fetched }: VendorContext): { bytes: Uint8Array; type: string } {
  if ('bytes' in picture) return picture
  const found = fetched?.get(picture.url)
  if (found) return found
  return warnings.refuse(
    'image',
    'the target takes no addresses of pictures: send the picture itself, or as a data URL.',
  )
}

/** The options that a vendor takes by the same names. All others are dropped; those of a stream and `auto` without a word, as little is lost. */
export function optionsFor(
  { options }: ImageRequest,
  takes: readonly string[],
  { warnings }: VendorContext,
): JsonObject {
  for (const [name, value] of Object.entries(options))
    if (!takes.includes(name) && !OF_STREAMS.has(name) && value !== 'auto') warnings.noteDropped(name)
  return Object.fromEntries(Object.entries(options).filter(([name]) => takes.includes(name)))
}

/** Where nothing is shown before the whole image, the client gets that as the only event. */
const OF_STREAMS: ReadonlySet<string> = new Set(['stream', 'partial_images'])

/** The error of an answer in which the vendor's content filter has refused the prompt: one about the request, and no failure. */
const message = 'The provider refused the request by its content filter.'
export const FILTERED: EmbeddedError = {
  status: 400,
  message,
  error: { message, type: 'invalid_request_error', code: 'content_policy_violation' },
}

/** Refuses what would change the whole picture in place of a part of it. */
export function refuseMask({ mask, markup }: ImageRequest, { warnings }: VendorContext): void {
  const why = 'the target cannot change a part of a picture only.'
  if (mask) warnings.refuse('mask', why)
  if (markup) warnings.refuse('markup', why)
}

/** Refuses pictures that the target does not take, or more of them than it does. */
export function refusePictures({ pictures }: ImageRequest, most: number, { warnings }: VendorContext): void {
  if (pictures.length <= most) return
  warnings.refuse('image', most === 0 ? 'the target takes no pictures.' : `the target takes at most ${most} pictures.`)
}
