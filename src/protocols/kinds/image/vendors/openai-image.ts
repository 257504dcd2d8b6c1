import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { type FormPart, isFile } from '../../../../lib/multipart.ts'
import type { PassThrough, VendorAdapter, VendorContext, VendorRequest } from '../../kind-adapters.ts'
import { getFormModelName } from '../../prepare-parts.ts'
import { getImageBytes, type ImageRequest, type ImageResponse, type InputImage, pickOptions } from '../image.ts'
import { readImageHeader } from '../image-header.ts'
import { createImageStream, type ImageChunk, readImageMetadata, readImageUsage } from '../image-pieces.ts'
import { chooseRatioAndTier, chooseSizeText } from '../image-sizes.ts'

type StreamingVendor = VendorAdapter<ImageRequest, ImageResponse, ImageChunk>

const GENERATIONS_PATH = '/images/generations'
const EDITS_PATH = '/images/edits'

const IMAGE_OPTIONS = [
  ...['quality', 'background', 'output_format', 'output_compression', 'moderation', 'stream', 'partial_images'],
  ...['user', 'safety_identifier', 'input_fidelity', 'complexity', 'svg', 'style'],
]

const createStream = ({ options, count }: ImageRequest) =>
  options.stream === true ? createImageStream(count) : undefined

const createPassThrough = (client: string, path: string): PassThrough<ImageRequest> => ({
  client,
  path: () => path,
  createStream,
})

const isPlainRequest = ({ tier, aspectRatio, inputImages }: ImageRequest) =>
  !tier && aspectRatio === undefined && inputImages.length === 0

/** Returns whether a form can be passed through unchanged. JSON is converted to a form. */
const isPlainForm = ({ tier, aspectRatio, isForm }: ImageRequest) => isForm && !tier && aspectRatio === undefined

/** Names image fields as OpenAI does for one or several images, and sets file names and types that match the content. */
function normalizeForm(parts: readonly FormPart[], { inputImages }: ImageRequest): FormPart[] {
  return parts.map((part) => {
    if (!isFile(part)) return part
    const [fieldName = ''] = part.name.split('[', 1)
    const singleFieldName = fieldName === 'image' ? part.name : 'image'
    const name = IMAGE_FIELDS.has(fieldName) ? (inputImages.length > 1 ? 'image[]' : singleFieldName) : fieldName
    const { type = part.type } = readImageHeader(part.bytes) ?? {}
    const hasImageExtension = part.fileName !== undefined && /\.(?:png|jpe?g|webp|gif)$/i.test(part.fileName)
    return { ...part, name, type, fileName: hasImageExtension ? part.fileName : undefined }
  })
}

const IMAGE_FIELDS: ReadonlySet<string> = new Set(['image', 'images', 'input_references'])

/** All OpenAI-compatible servers. */
export const openaiCompatible: StreamingVendor = {
  name: 'compatible',
  needsImageBytes: true,
  passThrough: [
    { ...createPassThrough('generate', GENERATIONS_PATH), accepts: ({ inputImages }) => inputImages.length === 0 },
    { ...createPassThrough('edit', EDITS_PATH), accepts: ({ isForm }) => isForm, rewriteForm: normalizeForm },
  ],
  createStream,
  writeRequest: (request, context) => writeOpenaiRequest(request, context, { supported: undefined }),
  readResponse: (json) => readOpenaiResponse(json),
}

/** OpenAI, also on Azure. Its models don't support `response_format`, and reject unknown fields. */
export const openai: StreamingVendor = {
  ...openaiCompatible,
  name: 'openai',
  providers: ['openai', 'azure'],
  passThrough: [
    {
      ...createPassThrough('generate', GENERATIONS_PATH),
      accepts: isPlainRequest,
      getExcludedFields: excludeResponseFormat,
    },
    {
      ...createPassThrough('edit', EDITS_PATH),
      accepts: isPlainForm,
      rewriteForm: normalizeForm,
      getExcludedFields: excludeResponseFormat,
    },
  ],
  writeRequest: (request, context) => writeOpenaiRequest(request, context, { supported: IMAGE_OPTIONS }),
}

/** Excludes `response_format`, because OpenAI always returns base64. */
function excludeResponseFormat({ shouldReturnUrl }: ImageRequest, { warnings }: VendorContext): readonly string[] {
  if (shouldReturnUrl) warnings.recordDrop('response_format')
  return ['response_format']
}

/** Writes JSON, or a form if there are input images. `supported` lists the supported options; `undefined` means all. */
function writeOpenaiRequest(
  request: ImageRequest,
  context: VendorContext,
  { supported }: { supported: readonly string[] | undefined },
): VendorRequest {
  const { prompt, count, shouldReturnUrl, inputImages, mask, markup } = request
  const options = supported ? pickOptions(request, supported, context) : request.options
  if (supported && shouldReturnUrl) context.warnings.recordDrop('response_format')
  const isLegacyModel =
    supported !== undefined && request.size === undefined && /^(?:gpt-image-1|dall-e)/.test(context.target.model)
  const size = isLegacyModel ? chooseLegacySize(request, context) : chooseSizeText(request, context)
  const body: JsonObject = {
    model: context.target.model,
    prompt,
    ...(count !== 1 && { n: count }),
    ...(size !== undefined && { size }),
    ...(!supported && shouldReturnUrl && { response_format: 'url' }),
    ...options,
  }
  if (inputImages.length === 0) return { path: GENERATIONS_PATH, body }
  const toFilePart = (name: string, image: InputImage): FormPart => ({
    name,
    fileName: undefined,
    ...getImageBytes(image, context),
  })
  return {
    path: EDITS_PATH,
    form: [
      ...Object.entries({ ...body, model: getFormModelName(context.target) }).map(([name, value]) => ({
        name,
        value: typeof value === 'object' ? JSON.stringify(value) : String(value),
      })),
      ...inputImages.map((image) => toFilePart(inputImages.length === 1 ? 'image' : 'image[]', image)),
      ...(mask ? [toFilePart('mask', mask)] : []),
      ...(markup ? [toFilePart('markup', markup)] : []),
    ],
  }
}

/** The sizes that models before gpt-image-2 support, by ratio. */
const LEGACY_SIZES = new Map([
  ['1:1', '1024x1024'],
  ['3:2', '1536x1024'],
  ['2:3', '1024x1536'],
])

function chooseLegacySize(request: ImageRequest, context: VendorContext): string | undefined {
  const { ratio } = chooseRatioAndTier(request, context, { ratios: [...LEGACY_SIZES.keys()], tiers: ['1K'] })
  return LEGACY_SIZES.get(ratio ?? '')
}

/** Reads a response in OpenAI's format. If anything is missing, returns a description of it. */
export function readOpenaiResponse(json: JsonObject): ImageResponse | string {
  const { data, usage, model } = json
  if (!Array.isArray(data)) return 'images'
  const images = data.flatMap((item) => {
    if (!isObject(item)) return []
    const { b64_json: base64, url, media_type: type, revised_prompt: revisedPrompt } = item
    const hasBase64 = typeof base64 === 'string' && base64 !== ''
    const hasUrl = typeof url === 'string' && url !== ''
    if (!hasBase64 && !hasUrl) return []
    return [
      {
        ...(hasBase64 && { base64 }),
        ...(hasUrl && { url }),
        ...(typeof type === 'string' && { type }),
        ...(typeof revisedPrompt === 'string' && { revisedPrompt }),
      },
    ]
  })
  if (images.length === 0) return 'any image'
  return {
    images,
    metadata: readImageMetadata(json),
    ...(typeof model === 'string' && { model }),
    usage: readImageUsage(usage, images.length),
  }
}
