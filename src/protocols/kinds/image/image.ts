import { fromBase64, toBase64 } from '../../../lib/bytes.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { EmbeddedError } from '../../formats/format.ts'
import type { KindResponse, RequestSplitter, VendorAdapter, VendorContext } from '../kind-adapters.ts'
import type { PixelSize, Tier } from './image-sizes.ts'

/** An image in a request: its bytes or its https URL. */
export type InputImage =
  | { bytes: Uint8Array; type: string; fileName?: string | undefined; url?: undefined }
  | { url: string }

/** An image request, independent of the client's format. */
export interface ImageRequest {
  prompt: string
  /** The number of images, at least one. */
  count: number
  /** The size in pixels. Absent if it is `auto`, or if ratio and tier determine it. */
  size?: PixelSize | undefined
  /** An aspect ratio, such as `16:9`. */
  aspectRatio?: string | undefined
  tier?: Tier | undefined
  /** Images to edit or use as references, in the client's order. Without any, the output depends only on the prompt. */
  inputImages: readonly InputImage[]
  /** A mask whose transparent areas mark the parts of the first image to edit. */
  mask?: InputImage | undefined
  /** A copy of the image with the changes drawn on it. */
  markup?: InputImage | undefined
  /** Whether the request is a form in which each image is a file. */
  isForm: boolean
  /** Whether the client wants URLs instead of base64. */
  shouldReturnUrl: boolean
  /** All other body fields, by OpenAI's names. */
  options: JsonObject
}

/** An image in a response. */
export interface OutputImage {
  base64?: string | undefined
  url?: string | undefined
  /** The media type, if the vendor reports it. */
  type?: string | undefined
  revisedPrompt?: string | undefined
}

/** An image response, independent of the vendor's format. */
export interface ImageResponse extends KindResponse {
  images: readonly OutputImage[]
  /** Metadata that the vendor reports for all images, under OpenAI's names, such as `quality` and `background`. */
  metadata?: JsonObject | undefined
}

export type ImageVendor = VendorAdapter<ImageRequest, ImageResponse>

/** Splits requests for vendors that return only one image per call. */
export const imageSplitter: RequestSplitter<ImageRequest, ImageResponse> = {
  countEntries: ({ count }) => count,
  slice: (request, start, end) => ({ ...request, count: end - start }),
  join: (responses) => ({ ...responses[0], images: responses.flatMap(({ images }) => images) }),
  allowsPartialSuccess: true,
}

/** Parses a data URL or an https URL, or returns `undefined` for anything else. */
export function parseImageUrl(text: string): InputImage | undefined {
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

/** Returns the image's own URL or a data URL. */
export const toImageUrl = (image: InputImage): string =>
  image.url ?? ('bytes' in image ? `data:${image.type};base64,${toBase64(image.bytes)}` : '')

/** Returns an image's bytes, for vendors that don't accept URLs. Rejects a URL if the gateway isn't allowed to fetch images. */
export function getImageBytes(
  image: InputImage,
  { warnings, fetchedImages }: VendorContext,
): { bytes: Uint8Array; type: string } {
  if ('bytes' in image) return image
  const fetchedImage = fetchedImages?.get(image.url)
  if (fetchedImage) return fetchedImage
  return warnings.reject('image', 'the target does not accept image URLs. Send the image itself or a data URL.')
}

/** Picks the options that a vendor supports. Drops all others with a warning, except stream options and `auto`. */
export function pickOptions(
  { options }: ImageRequest,
  supported: readonly string[],
  { warnings }: VendorContext,
): JsonObject {
  for (const [name, value] of Object.entries(options))
    if (!supported.includes(name) && !STREAM_OPTIONS.has(name) && value !== 'auto') warnings.recordDrop(name)
  return Object.fromEntries(Object.entries(options).filter(([name]) => supported.includes(name)))
}

/** Stream options. If a vendor doesn't support them, the client gets the entire image in a single event. */
const STREAM_OPTIONS: ReadonlySet<string> = new Set(['stream', 'partial_images'])

const message = "The provider's content filter blocked the request."
/** The error for a prompt that the vendor's content filter rejected. The request caused it, not the provider. */
export const CONTENT_FILTER_ERROR: EmbeddedError = {
  status: 400,
  message,
  error: { message, type: 'invalid_request_error', code: 'content_policy_violation' },
}

/** Rejects masks, because a target without support for them would change the entire image. */
export function rejectMask({ mask, markup }: ImageRequest, { warnings }: VendorContext): void {
  const reason = 'the target cannot edit only part of an image.'
  if (mask) warnings.reject('mask', reason)
  if (markup) warnings.reject('markup', reason)
}

/** Rejects a request with more input images than the target supports. */
export function limitInputImages({ inputImages }: ImageRequest, max: number, { warnings }: VendorContext): void {
  if (inputImages.length <= max) return
  warnings.reject(
    'image',
    max === 0 ? 'the target does not accept images.' : `the target accepts at most ${max} images.`,
  )
}
