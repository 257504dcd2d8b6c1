import { type Fields, fieldsOf } from '../../formats/canonical/fields.ts'
import type { Warnings } from '../../formats/canonical/warnings.ts'
import type { TokenUsage } from '../../formats/format.ts'
import { concatBytes, encodeUtf8, fromBase64 } from '../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { FormFile } from '../../lib/multipart.ts'
import { eventText } from '../../lib/sse.ts'
import type { ClientForm, ClientStream, WriteTerms } from '../forms.ts'
import { pictureIn } from './header.ts'
import { type ImageRequest, type Images, type MadeImage, type Picture, pictureAt } from './image.ts'
import type { ImagePiece } from './pieces.ts'
import { pixelsIn, ratioIn, tierIn, tierOf } from './sizes.ts'

export type ImageClient = ClientForm<ImageRequest, Images, ImagePiece>

/** The most pictures of a request, as at OpenAI. */
const MOST_PICTURES = 16
export const MOST_IMAGES = 10

/** The members that are no options. */
const READ: ReadonlySet<string> = new Set([
  ...['model', 'prompt', 'n', 'size', 'aspect_ratio', 'resolution', 'response_format', 'stream'],
  ...['image', 'images', 'input_references', 'mask', 'markup'],
])

const NUMBERS = ['output_compression', 'partial_images', 'seed']

function form(event: 'image_generation' | 'image_edit', isEdit: boolean): ImageClient {
  return {
    read: (body, { warnings, files }) => requestIn(body, { warnings, files, isEdit }),
    write: (given, terms) => answerOf(given, terms),
    stream: (_, terms) => (asksForStream(terms.asked) ? streamOf(event, terms) : undefined),
  }
}

/** OpenAI's forms: https://platform.openai.com/docs/api-reference/images. Edits come as a form or as JSON. */
export const clients = { generate: form('image_generation', false), edit: form('image_edit', true) }

const asksForStream = ({ options }: ImageRequest) => options[STREAMS] === true

/** Among the options, so that vendors that stream take it like any other. */
const STREAMS = 'stream'

function requestIn(
  body: JsonObject,
  { warnings, files, isEdit }: { warnings: Warnings; files: readonly FormFile[]; isEdit: boolean },
): ImageRequest {
  const fields = fieldsOf(withNumbers(body, files), '', warnings)
  const prompt = promptIn(fields, warnings)
  const count = countIn(fields, warnings)
  const pictures = [...picturesAt(['image', 'images', 'input_references'], { fields, files, warnings })]
  if (isEdit && pictures.length === 0)
    warnings.refuse('image', 'is required: a PNG, WebP or JPEG, as a file or a data URL.')
  refuseMany(pictures, warnings)
  const [mask, ...otherMasks] = picturesAt(['mask'], { fields, files, warnings })
  const [markup] = picturesAt(['markup'], { fields, files, warnings })
  if (otherMasks.length > 0) warnings.refuse('mask', 'may be one picture only.')
  if (mask && markup) warnings.refuse('markup', 'cannot be used together with "mask".')
  if (!isEdit && mask) warnings.refuse('mask', 'is for edits: POST /v1/images/edits.')
  for (const name of NUMBERS) fields.number(name)
  const isStream = fields.flag(STREAMS) ?? false
  const others = Object.entries(fields.value).filter(([name, value]) => value !== null && !READ.has(name))
  return {
    prompt,
    count,
    ...sizeIn(fields, warnings),
    pictures,
    mask,
    markup,
    isForm: files.length > 0,
    wantsUrl: fields.word('response_format', ['url', 'b64_json']) === 'url',
    options: { ...Object.fromEntries(others), ...(isStream && { [STREAMS]: true }) },
  }
}

/** What the image shows. */
export const promptIn = (fields: Fields, warnings: Warnings): string =>
  fields.text('prompt')?.trim() || warnings.refuse('prompt', 'is required: a text that says what the image shows.')

/** How many images are wanted. `how`: what the client does to get more. */
export function countIn(fields: Fields, warnings: Warnings, how = ''): number {
  const count = fields.number('n') ?? 1
  if (!Number.isInteger(count) || count < 1 || count > MOST_IMAGES)
    warnings.refuse('n', `must be a whole number from 1 to ${MOST_IMAGES}.${how}`)
  return count
}

export function refuseMany(pictures: readonly Picture[], warnings: Warnings): void {
  if (pictures.length > MOST_PICTURES) warnings.refuse('image', `may be at most ${MOST_PICTURES} pictures.`)
}

/** The fields of a form with numbers and flags in place of their texts. */
function withNumbers(body: JsonObject, files: readonly FormFile[]): JsonObject {
  if (files.length === 0) return body
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      if (typeof value !== 'string') return [name, value]
      if ((name === 'n' || NUMBERS.includes(name)) && value.trim() !== '' && Number.isFinite(Number(value)))
        return [name, Number(value)]
      return [name, name === STREAMS && /^(?:true|false)$/.test(value) ? value === 'true' : value]
    }),
  )
}

function sizeIn(fields: Fields, warnings: Warnings): Pick<ImageRequest, 'size' | 'aspectRatio' | 'tier'> {
  const text = fields.text('size')
  const aspectRatio = fields.text('aspect_ratio')
  if (aspectRatio !== undefined && aspectRatio !== 'auto' && ratioIn(aspectRatio) === undefined)
    warnings.refuse('aspect_ratio', 'must be two numbers, such as "16:9".')
  const size = pixelsIn(text)
  const sizeTier = size ? tierOf(size) : tierIn(text)
  const resolution = fields.text('resolution') ?? 'auto'
  const ownTier = tierIn(resolution)
  if (!ownTier && resolution !== 'auto') warnings.refuse('resolution', 'must be one of 512, 1K, 2K, 4K.')
  // Some vendors would go by the one, some by the other, and the price of an image is by what it is.
  if (ownTier && sizeTier && ownTier !== sizeTier)
    warnings.refuse('resolution', `is not that of "size", which is ${sizeTier}: leave one of them out.`)
  const tier = ownTier ?? tierIn(text)
  if (text !== undefined && text !== 'auto' && !size && !tierIn(text))
    warnings.refuse('size', 'must be "auto", a width and a height such as "1536x1024", or one of 512, 1K, 2K, 4K.')
  return { size, tier, ...(aspectRatio !== undefined && aspectRatio !== 'auto' && { aspectRatio }) }
}

/** The pictures in files of these names and in members of the body. */
function picturesAt(
  names: readonly string[],
  { fields, files, warnings }: { fields: Fields; files: readonly FormFile[]; warnings: Warnings },
): Picture[] {
  const ofForm = files
    .filter(({ name }) => names.includes(name.replace(/\[\d*\]$/, '')))
    .map((file): Picture => {
      const { type = /^image\//.test(file.type) ? file.type : undefined } = pictureIn(file.bytes) ?? {}
      if (file.bytes.length === 0 || type === undefined)
        return warnings.refuse(file.name, 'must be a picture: PNG, WebP or JPEG.')
      return { bytes: file.bytes, type, fileName: file.fileName }
    })
  const given = names.flatMap((name) => {
    const value = fields.any(name)
    return (Array.isArray(value) ? value : value === undefined ? [] : [value]).map((one, at) => ({
      one,
      path: Array.isArray(value) ? `${name}[${at}]` : name,
    }))
  })
  const ofBody = given
    .filter(({ one }) => files.length === 0 || !isObject(one) || !('fileName' in one))
    .map(({ one, path }) => {
      const text = typeof one === 'string' ? one : isObject(one) ? addressIn(one) : undefined
      return (
        (text === undefined ? undefined : pictureAt(text)) ??
        warnings.refuse(
          path,
          'must be a data URL of a picture, such as "data:image/png;base64,…", or an https address.',
        )
      )
    })
  return [...ofForm, ...ofBody]
}

/** The address in an object of OpenAI, xAI or OpenRouter. */
function addressIn({ url, image_url: inner }: JsonObject): string | undefined {
  const found = url ?? (isObject(inner) ? inner.url : inner)
  return typeof found === 'string' ? found : undefined
}

/** An image as clients get it. */
const shown = ({ base64, url, revisedPrompt }: MadeImage): JsonObject => ({
  ...(base64 === undefined ? { url } : { b64_json: base64 }),
  ...(revisedPrompt !== undefined && { revised_prompt: revisedPrompt }),
})

function answerOf(given: Images, { asked, lost, now }: WriteTerms<ImageRequest>): JsonObject {
  const { images, usage } = given
  noteLost(given, { asked, lost })
  return {
    created: now,
    data: images.map(shown),
    ...factsOf(given),
    ...(usage && { usage: usageFor(usage) }),
  }
}

/** What the client gets otherwise than it has asked for. */
export function noteLost({ images }: Images, { asked, lost }: Pick<WriteTerms<ImageRequest>, 'asked' | 'lost'>): void {
  if (images.length < asked.count) lost.noteDropped('images')
  if (asked.wantsUrl && images.some(({ url }) => url === undefined)) lost.noteDropped('url')
  if (!asked.wantsUrl && images.some(({ base64 }) => base64 === undefined)) lost.noteDropped('b64_json')
}

/** Format and size of the first image, by its header, and what the vendor says of all. */
function factsOf({ images: [first], said }: Images): JsonObject {
  const header = first?.base64 === undefined ? undefined : headerOf(first.base64)
  const type = header?.type ?? first?.type
  return {
    ...(type?.startsWith('image/') && { output_format: type.slice('image/'.length) }),
    ...(header?.size && { size: `${header.size.width}x${header.size.height}` }),
    ...said,
  }
}

/** In characters: enough of a picture for its header, which the metadata of a JPEG may stand before. */
const HEADER = 4 * 32_768

export function headerOf(base64: string): ReturnType<typeof pictureIn> {
  try {
    return pictureIn(fromBase64(base64.length > HEADER ? base64.slice(0, HEADER) : base64))
  } catch {
    return undefined
  }
}

const usageFor = ({ inputTokens, outputTokens, inputImageTokens, outputImageTokens }: TokenUsage): JsonObject => ({
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

/** Events for an image that is shown before it is complete, and for each that is. */
function streamOf(
  event: 'image_generation' | 'image_edit',
  { asked, lost, now }: WriteTerms<ImageRequest>,
): ClientStream<Images, ImagePiece> {
  const written = (type: string, data: JsonObject) =>
    encodeUtf8(eventText({ event: type, data: JSON.stringify({ type, ...data }) }))
  let done: ImagePiece[] = []
  const completed = ({ image, said }: ImagePiece, usage: TokenUsage | undefined) =>
    written(`${event}.completed`, {
      ...shown(image),
      created_at: now,
      ...factsOf({ images: [image], said }),
      ...(usage && { usage: usageFor(usage) }),
    })
  return {
    isEvents: true,
    type: () => 'text/event-stream',
    piece(piece) {
      if (piece.partial === undefined) {
        done.push(piece) // until its usage is known
        return undefined
      }
      return written(`${event}.partial_image`, {
        ...shown(piece.image),
        created_at: now,
        ...factsOf({ images: [piece.image], said: piece.said }),
        partial_image_index: piece.partial,
      })
    },
    end(usage) {
      const pieces = done
      done = []
      const parts = pieces.map((piece, at) => completed(piece, at === pieces.length - 1 ? usage : undefined))
      return parts.length === 0 ? undefined : concatBytes(parts)
    },
    whole(given) {
      noteLost(given, { asked, lost })
      return given.images.map((image) => ({ image, said: given.said }))
    },
  }
}
