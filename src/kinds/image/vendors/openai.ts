import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { FormPart } from '../../../lib/multipart.ts'
import { modelInForm } from '../../carry.ts'
import type { PassedForm, VendorContext, VendorForm, VendorRequest } from '../../forms.ts'
import { bytesOf, type ImageRequest, type Images, optionsFor, type Picture } from '../image.ts'
import { type ImagePiece, imageEvents, saidIn, usageIn } from '../pieces.ts'
import { shapeOf, shapeText } from '../sizes.ts'

type StreamingVendor = VendorForm<ImageRequest, Images, ImagePiece>

const GENERATIONS = '/images/generations'
const EDITS = '/images/edits'

/** The options of OpenAI's image models. */
const OPTIONS = [
  ...['quality', 'background', 'output_format', 'output_compression', 'moderation', 'stream', 'partial_images'],
  ...['user', 'safety_identifier', 'input_fidelity', 'complexity', 'svg', 'style'],
]

const streamOf = ({ options, count }: ImageRequest) => (options.stream === true ? imageEvents(count) : undefined)

const passed = (client: string, path: string): PassedForm<ImageRequest> => ({
  client,
  path: () => path,
  stream: streamOf,
})

const isPlain = ({ tier, aspectRatio, pictures }: ImageRequest) =>
  !tier && aspectRatio === undefined && pictures.length === 0

/** Has it come as a form? What has come as JSON is written anew, as a form. */
const isForm = ({ tier, aspectRatio, isForm }: ImageRequest) => isForm && !tier && aspectRatio === undefined

/** Every server that speaks OpenAI's form. */
export const compatible: StreamingVendor = {
  name: 'compatible',
  readsNoAddresses: true,
  passes: [
    { ...passed('generate', GENERATIONS), isOpen: ({ pictures }) => pictures.length === 0 },
    { ...passed('edit', EDITS), isOpen: ({ isForm }) => isForm },
  ],
  stream: streamOf,
  request: (asked, context) => requestFor(asked, context, { takes: undefined }),
  answer: (json) => openaiImages(json),
}

/** OpenAI, also at Azure: its models know no `response_format`, and refuse what they do not know. */
export const openai: StreamingVendor = {
  ...compatible,
  name: 'openai',
  providers: ['openai', 'azure'],
  passes: [
    { ...passed('generate', GENERATIONS), isOpen: isPlain, without: withoutFormat },
    { ...passed('edit', EDITS), isOpen: isForm, without: withoutFormat },
  ],
  request: (asked, context) => requestFor(asked, context, { takes: OPTIONS }),
}

/** Base64 is all that there is, and needs no word. */
function withoutFormat({ wantsUrl }: ImageRequest, { warnings }: VendorContext): readonly string[] {
  if (wantsUrl) warnings.noteDropped('response_format')
  return ['response_format']
}

/** A request in OpenAI's form: JSON, or a form where there are pictures. `takes`: the options that it takes; `undefined`: all. */
function requestFor(
  asked: ImageRequest,
  context: VendorContext,
  { takes }: { takes: readonly string[] | undefined },
): VendorRequest {
  const { prompt, count, wantsUrl, pictures, mask, markup } = asked
  const options = takes ? optionsFor(asked, takes, context) : asked.options
  if (takes && wantsUrl) context.warnings.noteDropped('response_format')
  const isOld = takes !== undefined && asked.size === undefined && /^(?:gpt-image-1|dall-e)/.test(context.target.model)
  const size = isOld ? oldSize(asked, context) : shapeText(asked, context)
  const body: JsonObject = {
    model: context.target.model,
    prompt,
    ...(count !== 1 && { n: count }),
    ...(size !== undefined && { size }),
    ...(!takes && wantsUrl && { response_format: 'url' }),
    ...options,
  }
  if (pictures.length === 0) return { path: GENERATIONS, body }
  const file = (name: string, picture: Picture): FormPart => ({
    name,
    fileName: undefined,
    ...bytesOf(picture, context),
  })
  return {
    path: EDITS,
    form: [
      ...Object.entries({ ...body, model: modelInForm(context.target) }).map(([name, value]) => ({
        name,
        value: typeof value === 'object' ? JSON.stringify(value) : String(value),
      })),
      ...pictures.map((picture) => file(pictures.length === 1 ? 'image' : 'image[]', picture)),
      ...(mask ? [file('mask', mask)] : []),
      ...(markup ? [file('markup', markup)] : []),
    ],
  }
}

/** The sizes of models before gpt-image-2, by their ratios. */
const OLD_SIZES = new Map([
  ['1:1', '1024x1024'],
  ['3:2', '1536x1024'],
  ['2:3', '1024x1536'],
])

/** The size of an older model that is nearest to what was asked for. */
function oldSize(asked: ImageRequest, context: VendorContext): string | undefined {
  const { ratio } = shapeOf(asked, context, { ratios: [...OLD_SIZES.keys()], tiers: ['1K'] })
  return OLD_SIZES.get(ratio ?? '')
}

/** Reads an answer of OpenAI's form. */
export function openaiImages(json: JsonObject): Images | string {
  const { data, usage, model } = json
  if (!Array.isArray(data)) return 'images'
  const images = data.flatMap((one) => {
    if (!isObject(one)) return []
    const { b64_json: base64, url, media_type: type, revised_prompt: revisedPrompt } = one
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
    said: saidIn(json),
    ...(typeof model === 'string' && { model }),
    usage: usageIn(usage, images.length),
  }
}
