import type { RequestBound } from '../../formats/format.ts'
import type { JsonObject } from '../../lib/json.ts'
import { once } from '../../lib/promises.ts'
import { aiSdkEndpoints, base64SizeOf, type KindEndpoint, kindEndpoint, kindOperation } from '../endpoint.ts'

const operation = kindOperation({
  name: 'image',
  kind: 'image',
  isPaidOnAcceptance: true,
  endsAt: (failure) => failure.class === 'client' && failure.status !== 404, // which is that of a model, whatever its words
  limits: { headersTimeoutMs: 180_000 }, // half a minute to three are normal
})
const loadForms = once(async () => (await import('./forms.ts')).imageForms)

const countIn = ({ n }: JsonObject) => Math.min(10, Math.max(1, Math.ceil(Number(n)) || 1))

/** The most tokens of an image of so many pixels, with what is shown of it before; four times as many as `high` has at 1.5 megapixels. */
function outputOf(body: JsonObject): number {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(String(body.size ?? '')) ?? []
  const [tier] = /[24]k/i.exec(JSON.stringify([body.size, body.resolution, body.providerOptions])) ?? []
  const named = tier === undefined ? 1.6 : tier.startsWith('4') ? 16 : 4.2
  const megapixels = Math.max(named, width === undefined ? 0 : (Number(width) * Number(height)) / 1_000_000)
  const partial = Math.min(3, Math.max(0, Number(body.partial_images) || 0))
  return Math.ceil(megapixels * TOKENS_PER_MEGAPIXEL) + partial * 100
}

/** 6,240 at `high` for 1536x1024, and as much again for what models think before. */
const TOKENS_PER_MEGAPIXEL = 8_000

/** The most tokens of a picture that is sent, as with a high fidelity. */
const TOKENS_PER_PICTURE = 7_000

const bound: RequestBound = {
  isEither: true,
  answers: countIn,
  inputTokens: ({ prompt, image, images, input_references: references, files: inJson }, _, files = []) => {
    const inBody = [image, images, references, inJson].flat().filter((one) => (one ?? null) !== null).length
    const pictures = Math.max(files.length, inBody)
    return (typeof prompt === 'string' ? prompt.length : 0) + 100 + pictures * TOKENS_PER_PICTURE
  },
  outputTokens: outputOf,
  units: (body) => ({ image: countIn(body) }),
}

const sizeInBase64 = ({ prompt: _, ...body }: JsonObject) => base64SizeOf(body)

const endpoint = (
  name: 'generations' | 'edits',
  more: Pick<KindEndpoint, 'client' | 'reads'> & Partial<KindEndpoint>,
) =>
  kindEndpoint({
    path: `/v1/images/${name}`,
    format: 'openai-chat',
    operation,
    loadForms,
    streams: 'asked',
    bound,
    bodyLimit: 'maxImageBytes',
    sizeInBase64,
    words: {
      summary: name === 'edits' ? 'Change images' : 'Make images',
      vendor: 'OpenAI',
      reference: 'https://platform.openai.com/docs/api-reference/images',
    },
    ...more,
  })

/** Where images are made and changed. */
export const imageEndpoints: readonly KindEndpoint[] = [
  endpoint('generations', { client: 'generate', reads: 'json' }),
  endpoint('edits', { client: 'edit', reads: 'form' }),
  ...aiSdkEndpoints('image-model', {
    operation,
    loadForms,
    bound,
    bodyLimit: 'maxImageBytes',
    sizeInBase64,
    summary: 'Make or change images',
    page: 'image-generation',
  }),
]
