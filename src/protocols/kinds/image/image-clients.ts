import { concatBytes, encodeUtf8, fromBase64 } from '../../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { FormFile } from '../../../lib/multipart.ts'
import { formatSseEvent } from '../../../lib/sse.ts'
import { type Fields, readFields } from '../../formats/canonical/canonical-fields.ts'
import type { Warnings } from '../../formats/canonical/canonical-warnings.ts'
import type { TokenUsage } from '../../formats/format.ts'
import type { ClientAdapter, ClientStream, ClientWriteContext } from '../kind-adapters.ts'
import { type ImageRequest, type ImageResponse, type InputImage, type OutputImage, parseImageUrl } from './image.ts'
import { readImageHeader } from './image-header.ts'
import type { ImageChunk } from './image-pieces.ts'
import { getTier, parsePixels, parseRatio, parseTier } from './image-sizes.ts'

export type ImageClient = ClientAdapter<ImageRequest, ImageResponse, ImageChunk>

/** OpenAI's maximum number of images in a request. */
const MAX_INPUT_IMAGES = 16
/** Maximum number of images per request. */
export const MAX_IMAGES = 10

/** Fields that aren't options. */
const NON_OPTION_FIELDS: ReadonlySet<string> = new Set([
  ...['model', 'prompt', 'n', 'size', 'aspect_ratio', 'resolution', 'response_format', 'stream'],
  ...['image', 'images', 'input_references', 'mask', 'markup'],
])

const NUMBER_FIELDS = ['output_compression', 'partial_images', 'seed']

function createClient(eventPrefix: 'image_generation' | 'image_edit', isEdit: boolean): ImageClient {
  return {
    read: (body, { warnings, files }) => readRequest(body, { warnings, files, isEdit }),
    write: (response, context) => writeResponse(response, context),
    createStream: (_, context) => (shouldStream(context.request) ? createEventStream(eventPrefix, context) : undefined),
  }
}

/** OpenAI's API: https://platform.openai.com/docs/api-reference/images. Edits are sent as a form or as JSON. */
export const clients = { generate: createClient('image_generation', false), edit: createClient('image_edit', true) }

const shouldStream = ({ options }: ImageRequest) => options[STREAM_FIELD] === true

/** The option that requests a stream. Vendors that stream support it like any other option. */
const STREAM_FIELD = 'stream'

function readRequest(
  body: JsonObject,
  { warnings, files, isEdit }: { warnings: Warnings; files: readonly FormFile[]; isEdit: boolean },
): ImageRequest {
  const fields = readFields(parseNumbers(body, files), '', warnings)
  const prompt = readPrompt(fields, warnings)
  const count = readCount(fields, warnings)
  const inputImages = [...readInputImages(['image', 'images', 'input_references'], { fields, files, warnings })]
  if (isEdit && inputImages.length === 0)
    warnings.reject('image', 'is required: a PNG, WebP, or JPEG image, as a file or a data URL.')
  rejectTooManyImages(inputImages, warnings)
  const [mask, ...otherMasks] = readInputImages(['mask'], { fields, files, warnings })
  const [markup] = readInputImages(['markup'], { fields, files, warnings })
  if (otherMasks.length > 0) warnings.reject('mask', 'must be a single image.')
  if (mask && markup) warnings.reject('markup', 'cannot be used together with "mask".')
  if (!isEdit && mask) warnings.reject('mask', 'is only for edits (POST /v1/images/edits).')
  for (const name of NUMBER_FIELDS) fields.number(name)
  const isStream = fields.boolean(STREAM_FIELD) ?? false
  const optionEntries = Object.entries(fields.value).filter(
    ([name, value]) => value !== null && !NON_OPTION_FIELDS.has(name),
  )
  return {
    prompt,
    count,
    ...readSize(fields, warnings),
    inputImages,
    mask,
    markup,
    isForm:
      files.length > 0 &&
      [...inputImages, mask, markup].every((image) => image === undefined || ('bytes' in image && 'fileName' in image)),
    shouldReturnUrl: fields.oneOf('response_format', ['url', 'b64_json']) === 'url',
    options: { ...Object.fromEntries(optionEntries), ...(isStream && { [STREAM_FIELD]: true }) },
  }
}

/** Reads the prompt, which is required. */
export const readPrompt = (fields: Fields, warnings: Warnings): string =>
  fields.string('prompt')?.trim() || warnings.reject('prompt', 'is required: a text prompt for the image.')

/** Reads the number of images. `advice` tells the client how to get more. */
export function readCount(fields: Fields, warnings: Warnings, advice = ''): number {
  const count = fields.number('n') ?? 1
  if (!Number.isInteger(count) || count < 1 || count > MAX_IMAGES)
    warnings.reject('n', `must be a whole number from 1 to ${MAX_IMAGES}.${advice}`)
  return count
}

export function rejectTooManyImages(inputImages: readonly InputImage[], warnings: Warnings): void {
  if (inputImages.length > MAX_INPUT_IMAGES)
    warnings.reject('image', `must not contain more than ${MAX_INPUT_IMAGES} images.`)
}

/** Parses numbers, because form fields are strings. */
function parseNumbers(body: JsonObject, files: readonly FormFile[]): JsonObject {
  if (files.length === 0) return body
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      if (typeof value !== 'string') return [name, value]
      if ((name === 'n' || NUMBER_FIELDS.includes(name)) && value.trim() !== '' && Number.isFinite(Number(value)))
        return [name, Number(value)]
      return [name, name === STREAM_FIELD && /^(?:true|false)$/.test(value) ? value === 'true' : value]
    }),
  )
}

function readSize(fields: Fields, warnings: Warnings): Pick<ImageRequest, 'size' | 'aspectRatio' | 'tier'> {
  const sizeText = fields.string('size')
  const aspectRatio = fields.string('aspect_ratio')
  if (aspectRatio !== undefined && aspectRatio !== 'auto' && parseRatio(aspectRatio) === undefined)
    warnings.reject('aspect_ratio', 'must be two numbers, such as "16:9".')
  const size = parsePixels(sizeText)
  const sizeTier = size ? getTier(size) : parseTier(sizeText)
  const resolution = fields.string('resolution') ?? 'auto'
  const requestedTier = parseTier(resolution)
  if (!requestedTier && resolution !== 'auto') warnings.reject('resolution', 'must be one of 512, 1K, 2K, 4K.')
  // Vendors use only one of the two, and the price depends on which one.
  if (requestedTier && sizeTier && requestedTier !== sizeTier)
    warnings.reject('resolution', `conflicts with "size", which is ${sizeTier}. Send only one of them.`)
  const tier = requestedTier ?? parseTier(sizeText)
  if (sizeText !== undefined && sizeText !== 'auto' && !size && !parseTier(sizeText))
    warnings.reject('size', 'must be "auto", a width and height such as "1536x1024", or one of 512, 1K, 2K, 4K.')
  return { size, tier, ...(aspectRatio !== undefined && aspectRatio !== 'auto' && { aspectRatio }) }
}

/** Reads the images in the files and body fields with these names. */
function readInputImages(
  names: readonly string[],
  { fields, files, warnings }: { fields: Fields; files: readonly FormFile[]; warnings: Warnings },
): InputImage[] {
  const formImages = files
    .filter(({ name }) => names.includes(name.replace(/\[\d*\]$/, '')))
    .map((file): InputImage => {
      const { type = /^image\//.test(file.type) ? file.type : undefined } = readImageHeader(file.bytes) ?? {}
      if (file.bytes.length === 0 || type === undefined)
        return warnings.reject(file.name, 'must be a PNG, WebP, or JPEG image.')
      return { bytes: file.bytes, type, fileName: file.fileName }
    })
  const candidates = names.flatMap((name) => {
    const value = fields.any(name)
    return (Array.isArray(value) ? value : value === undefined ? [] : [value]).map((item, index) => ({
      image: item,
      path: Array.isArray(value) ? `${name}[${index}]` : name,
    }))
  })
  const bodyImages = candidates
    .filter(({ image }) => files.length === 0 || !isObject(image) || !('fileName' in image))
    .map(({ image, path }) => {
      const url = typeof image === 'string' ? image : isObject(image) ? getUrl(image) : undefined
      return (
        (url === undefined ? undefined : parseImageUrl(url)) ??
        warnings.reject(path, 'must be an image data URL, such as "data:image/png;base64,…", or an https URL.')
      )
    })
  return [...formImages, ...bodyImages]
}

/** Returns an image's URL from the objects of OpenAI, xAI, or OpenRouter. */
function getUrl({ url, image_url: imageUrl }: JsonObject): string | undefined {
  const imageUrlValue = url ?? (isObject(imageUrl) ? imageUrl.url : imageUrl)
  return typeof imageUrlValue === 'string' ? imageUrlValue : undefined
}

const writeImage = ({ base64, url, revisedPrompt }: OutputImage): JsonObject => ({
  ...(base64 === undefined ? { url } : { b64_json: base64 }),
  ...(revisedPrompt !== undefined && { revised_prompt: revisedPrompt }),
})

function writeResponse(
  response: ImageResponse,
  { request, warnings, now }: ClientWriteContext<ImageRequest>,
): JsonObject {
  const { images, usage } = response
  recordMissingImages(response, { request, warnings })
  return {
    created: now,
    data: images.map(writeImage),
    ...writeMetadata(response),
    ...(usage && { usage: writeUsage(usage) }),
  }
}

/** Reports images that are missing or not in the requested format. */
export function recordMissingImages(
  { images }: ImageResponse,
  { request, warnings }: Pick<ClientWriteContext<ImageRequest>, 'request' | 'warnings'>,
): void {
  if (images.length < request.count) warnings.recordDrop('images')
  if (request.shouldReturnUrl && images.some(({ url }) => url === undefined)) warnings.recordDrop('url')
  if (!request.shouldReturnUrl && images.some(({ base64 }) => base64 === undefined)) warnings.recordDrop('b64_json')
}

/** Writes the format and size from the first image's header, and the vendor's metadata for all images. */
function writeMetadata({ images: [first], metadata }: ImageResponse): JsonObject {
  const header = first?.base64 === undefined ? undefined : readBase64Header(first.base64)
  const type = header?.type ?? first?.type
  return {
    ...(type?.startsWith('image/') && { output_format: type.slice('image/'.length) }),
    ...(header?.size && { size: `${header.size.width}x${header.size.height}` }),
    ...metadata,
  }
}

/** How much of an image to decode to find its header, in base64 characters. A JPEG's metadata may precede the header. */
const HEADER_LENGTH = 4 * 32_768

export function readBase64Header(base64: string): ReturnType<typeof readImageHeader> {
  try {
    return readImageHeader(fromBase64(base64.length > HEADER_LENGTH ? base64.slice(0, HEADER_LENGTH) : base64))
  } catch {
    return undefined
  }
}

const writeUsage = ({ inputTokens, outputTokens, inputImageTokens, outputImageTokens }: TokenUsage): JsonObject => ({
  input_tokens: inputTokens,
  ...(inputImageTokens !== undefined && {
    input_tokens_details: { text_tokens: inputTokens - inputImageTokens, image_tokens: inputImageTokens },
  }),
  output_tokens: outputTokens,
  ...(outputImageTokens !== undefined && {
    output_tokens_details: { text_tokens: outputTokens - outputImageTokens, image_tokens: outputImageTokens },
  }),
  total_tokens: inputTokens + outputTokens,
})

/** Sends an event for each partial and each complete image. */
function createEventStream(
  eventPrefix: 'image_generation' | 'image_edit',
  { request, warnings, now }: ClientWriteContext<ImageRequest>,
): ClientStream<ImageResponse, ImageChunk> {
  const writeEvent = (type: string, data: JsonObject) =>
    encodeUtf8(formatSseEvent({ event: type, data: JSON.stringify({ type, ...data }) }))
  let completedChunks: ImageChunk[] = []
  const writeCompleted = ({ image, metadata }: ImageChunk, usage: TokenUsage | undefined) =>
    writeEvent(`${eventPrefix}.completed`, {
      ...writeImage(image),
      created_at: now,
      ...writeMetadata({ images: [image], metadata }),
      ...(usage && { usage: writeUsage(usage) }),
    })
  return {
    writesEvents: true,
    getContentType: () => 'text/event-stream',
    writeChunk(chunk) {
      if (chunk.partialIndex === undefined) {
        completedChunks.push(chunk) // the last event contains the usage
        return undefined
      }
      return writeEvent(`${eventPrefix}.partial_image`, {
        ...writeImage(chunk.image),
        created_at: now,
        ...writeMetadata({ images: [chunk.image], metadata: chunk.metadata }),
        partial_image_index: chunk.partialIndex,
      })
    },
    writeEnd(usage) {
      const chunks = completedChunks
      completedChunks = []
      const events = chunks.map((chunk, index) =>
        writeCompleted(chunk, index === chunks.length - 1 ? usage : undefined),
      )
      return events.length === 0 ? undefined : concatBytes(events)
    },
    splitResponse(response) {
      recordMissingImages(response, { request, warnings })
      return response.images.map((image) => ({ image, metadata: response.metadata }))
    },
  }
}
