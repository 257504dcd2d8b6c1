import type { JsonObject } from '../../../src/lib/json.ts'
import { isFile, parseForm } from '../../../src/lib/multipart.ts'
import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { type Call, type FakeUpstream, fakeUpstream, json, type Respond } from '../../pipeline/support/upstream.ts'
import { openWorld, type World, type WorldOptions } from '../../pipeline/support/world.ts'
import { getBytes, jpeg, png, webp } from './images.ts'

/** A fake image vendor that accepts only the vendor's own fields, and responds in the vendor's format. */
export interface ImageVendor {
  /** The model as clients name it: the provider's ID and the model's name. */
  model: string
  /** The paths for generating and editing images. */
  makes: string
  edits: string
  /** The fields that the vendor accepts. Nested fields are given as paths. */
  takes: readonly string[]
  respond(call: Call, fields: JsonObject): Response
  /** The header that contains the vendor's key. */
  key?: string
  connection?: { providerSpecificData?: JsonObject; apiKey?: string }
  /** The number of images that the vendor creates per call. */
  most?: number
}

const createList = (count: unknown) => Array.from({ length: Number(count ?? 1) })

const sse = (events: ReadonlyArray<JsonObject>) =>
  new Response(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  })

const USAGE = {
  input_tokens: 10,
  input_tokens_details: { text_tokens: 10, image_tokens: 0 },
  output_tokens: 1_000,
  total_tokens: 1_010,
}

function respondAsOpenai({ url }: Call, { n, stream, partial_images: partial }: JsonObject): Response {
  const name = url.pathname.endsWith('edits') ? 'image_edit' : 'image_generation'
  if (stream === true || stream === 'true') {
    const shown = createList(partial ?? 0).map((_, index) => ({
      type: `${name}.partial_image`,
      b64_json: png,
      partial_image_index: index,
      created_at: 1,
    }))
    return sse([...shown, { type: `${name}.completed`, b64_json: png, created_at: 1, usage: USAGE }])
  }
  return json({ created: 1, data: createList(n).map(() => ({ b64_json: png })), usage: USAGE })
}

const OPENAI = [
  ...['model', 'prompt', 'n', 'size', 'quality', 'background', 'output_format', 'output_compression', 'moderation'],
  ...['stream', 'partial_images', 'user', 'safety_identifier', 'input_fidelity', 'image', 'mask', 'markup'],
]

const CONFIG = 'generationConfig'
const gemini = {
  takes: [
    ...['contents', CONFIG, `${CONFIG}.responseModalities`, `${CONFIG}.imageConfig`, `${CONFIG}.seed`],
    ...[`${CONFIG}.imageConfig.aspectRatio`, `${CONFIG}.imageConfig.imageSize`],
  ],
  most: 1,
  respond: () =>
    json({
      candidates: [
        {
          content: { parts: [{ text: 'Here.' }, { inlineData: { mimeType: 'image/png', data: png } }] },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: {
        promptTokenCount: 8,
        candidatesTokenCount: 1_120,
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_120 }],
      },
      modelVersion: 'gemini-3.1-flash-image',
    }),
}

const VERTEX = 'https://aiplatform.googleapis.com/v1beta1/projects/mine/locations/global/publishers/google/models'

/** All vendors, by name. */
export const imageVendors = {
  openai: {
    model: 'openai/gpt-image-2',
    makes: 'https://api.openai.com/v1/images/generations',
    edits: 'https://api.openai.com/v1/images/edits',
    takes: OPENAI,
    respond: respondAsOpenai,
  },
  azure: {
    model: 'azure/gpt-image-2',
    makes: 'https://res.openai.azure.com/openai/v1/images/generations',
    edits: 'https://res.openai.azure.com/openai/v1/images/edits',
    takes: OPENAI,
    respond: respondAsOpenai,
    key: 'api-key',
    connection: { providerSpecificData: { resource: 'res' } },
  },
  google: {
    ...gemini,
    model: 'gemini/gemini-3.1-flash-image',
    makes: 'https://generativelanguage.googleapis.com/v1beta/models/gemini-3.1-flash-image:generateContent',
    edits: 'https://generativelanguage.googleapis.com/v1beta/models/gemini-3.1-flash-image:generateContent',
    key: 'x-goog-api-key',
  },
  vertex: {
    ...gemini,
    model: 'vertex/gemini-3.1-flash-image',
    makes: `${VERTEX}/gemini-3.1-flash-image:generateContent`,
    edits: `${VERTEX}/gemini-3.1-flash-image:generateContent`,
    connection: { apiKey: 'ya29.secret-of-vertex', providerSpecificData: { project: 'mine' } },
  },
  xai: {
    model: 'xai/grok-imagine-image',
    makes: 'https://api.x.ai/v1/images/generations',
    edits: 'https://api.x.ai/v1/images/edits',
    takes: [
      ...['model', 'prompt', 'n', 'response_format', 'aspect_ratio', 'resolution', 'quality', 'output_format', 'user'],
      ...['image', 'image.url', 'image.type', 'images'],
    ],
    respond: (_, { n, response_format: format }) =>
      json({
        data: createList(n).map(() => ({
          ...(format === 'url' ? { url: 'https://imgen.x.ai/1.jpg' } : { b64_json: jpeg }),
          revised_prompt: 'A long walk',
          respect_moderation: true,
        })),
        usage: { cost_in_usd_ticks: 200_000_000 },
      }),
  },
  together: {
    model: 'together/black-forest-labs/FLUX.1-kontext-pro',
    makes: 'https://api.together.ai/v1/images/generations',
    edits: 'https://api.together.ai/v1/images/generations',
    takes: [
      ...['model', 'prompt', 'n', 'response_format', 'width', 'height', 'seed', 'negative_prompt', 'steps'],
      ...['guidance_scale', 'output_format', 'image_url', 'reference_images', 'disable_safety_checker'],
    ],
    respond: (_, { n, response_format: format }) =>
      json({
        id: 'x',
        model: 'm',
        object: 'list',
        data: createList(n).map((_one, index) =>
          format === 'url' ? { index, type: 'url', url: 'https://cdn.together.ai/1.jpg' } : { index, b64_json: jpeg },
        ),
      }),
  },
  fireworks: {
    model: 'fireworks/accounts/fireworks/models/flux-1-schnell-fp8',
    makes: 'https://api.fireworks.ai/inference/v1/workflows/accounts/fireworks/models/flux-1-schnell-fp8/text_to_image',
    edits: '',
    takes: ['prompt', 'aspect_ratio', 'seed', 'guidance_scale', 'num_inference_steps'],
    most: 1,
    respond: () => new Response(getBytes(jpeg), { headers: { 'content-type': 'image/jpeg' } }),
  },
  openrouter: {
    model: 'openrouter/black-forest-labs/flux.2-pro',
    makes: 'https://openrouter.ai/api/v1/images',
    edits: 'https://openrouter.ai/api/v1/images',
    takes: [
      ...['model', 'prompt', 'n', 'size', 'resolution', 'aspect_ratio', 'quality', 'background', 'output_format'],
      ...['output_compression', 'seed', 'input_references', 'stream', 'user'],
    ],
    respond: (_, { n, stream }) => {
      const usage = { prompt_tokens: 5, completion_tokens: 900, total_tokens: 905, cost: 0.04 }
      if (stream === true)
        return sse([
          { type: 'image_generation.completed', b64_json: webp, created: 1, media_type: 'image/webp', usage },
        ])
      return json({ created: 1, data: createList(n).map(() => ({ b64_json: webp, media_type: 'image/webp' })), usage })
    },
  },
  bfl: {
    model: 'bfl/flux-2-pro',
    makes: 'https://api.bfl.ai/v1/flux-2-pro',
    edits: 'https://api.bfl.ai/v1/flux-2-pro',
    takes: [
      ...['prompt', 'width', 'height', 'seed', 'output_format', 'prompt_upsampling', 'safety_tolerance'],
      ...['input_image', 'input_image_2', 'input_image_3'],
    ],
    key: 'x-key',
    most: 1,
    respond: () => json({ id: 'j', polling_url: 'https://api.eu2.bfl.ai/v1/get_result?id=j', cost: 3 }),
  },
} as const satisfies Record<string, ImageVendor>

export type VendorName = keyof typeof imageVendors
export const vendorNames = Object.keys(imageVendors) as VendorName[]
const vendors: readonly ImageVendor[] = Object.values(imageVendors)

/** Returns the fields of a form or JSON request. A file's value is its size. */
export function getFields(call: Pick<Call, 'headers' | 'init' | 'body'> | undefined): JsonObject {
  if (!call) throw new Error('Nothing was sent.')
  const { headers, init, body } = call
  const type = headers.get('content-type') ?? ''
  if (!type.startsWith('multipart/')) return body === '' ? {} : JSON.parse(body)
  const fields: JsonObject = {}
  for (const part of parseForm(init.body as unknown as Uint8Array, type))
    fields[part.name.replace('[]', '')] = isFile(part) ? part.bytes.length : part.value
  return fields
}

const plain = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const getPaths = (fields: JsonObject, at = ''): string[] =>
  Object.entries(fields).flatMap(([name, value]) => [
    at + name,
    ...(plain(value) ? getPaths(value, `${at}${name}.`) : []),
  ])

/** Returns the fakes' responses: a job's images on the second poll, and the images at the URLs in responses. */
export function respondAsVendors(polls = new Map<string, number>()): (call: Call) => Response {
  return (call) => {
    const { url, init } = call
    if (url.host === 'api.eu2.bfl.ai') {
      const requested = (polls.get(url.href) ?? 0) + 1
      polls.set(url.href, requested)
      return json(
        requested % 2 === 0 ? { id: 'j', status: 'Ready', result: { sample: SAMPLE } } : { id: 'j', status: 'Pending' },
      )
    }
    if (/\.(?:jpg|png)$/.test(url.pathname) && init.method === 'GET')
      return new Response(getBytes(jpeg), { headers: { 'content-type': 'image/jpeg' } })
    const vendor = vendors.find(({ makes, edits }) => makes === url.href || edits === url.href)
    if (!vendor || init.method !== 'POST') return json({ error: { message: `nothing at ${url.href}` } }, 404)
    const fields = getFields(call)
    const unknown = getPaths(fields).find((path) => !vendor.takes.includes(path))
    if (unknown !== undefined) return json({ error: { message: `Unknown parameter: '${unknown}'.` } }, 400)
    return vendor.respond(call, fields)
  }
}

export const SAMPLE = 'https://delivery-eu1.bfl.ai/a/sample.png'

/** Opens a gateway with a connection to every vendor. The fakes respond unless `respond` returns a response. */
export async function openImages(
  options: WorldOptions & { respond?: (call: Call) => ReturnType<Respond> | undefined } = {},
): Promise<World & { upstream: FakeUpstream; send: RequestSpec }> {
  const { respond, ...rest } = options
  const usual = respondAsVendors()
  const upstream = fakeUpstream((call) => respond?.(call) ?? usual(call))
  const connections = vendors.map(({ model, connection }) => ({
    provider: model.split('/', 1)[0] ?? '',
    ...connection,
  }))
  const world = await openWorld({ fetch: upstream, catalog: defaultCatalog, connections, ...rest })
  async function send(model: string, body: JsonObject, { path = 'generations', ...init }: AskInit = {}) {
    const pending = world.post(`/v1/images/${path}`, { model, prompt: 'a walk', ...body }, init)
    let isOver = false
    const over = pending.finally(() => {
      isOver = true
    })
    for (let times = 0; !isOver && times < 200; times++) await world.clock.advance(times < 20 ? 0 : 1_000)
    return over
  }
  return { ...world, upstream, send }
}

interface AskInit {
  path?: 'generations' | 'edits'
  headers?: Record<string, string>
  signal?: AbortSignal
}

type RequestSpec = (model: string, body: JsonObject, init?: AskInit) => Promise<Response>
