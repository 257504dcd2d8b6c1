import { isObject, type JsonObject } from '../../src/lib/json.ts'
import { createSseParser, type StreamFraming } from '../../src/lib/sse.ts'
import { boundInputTokens } from '../../src/pricing/input-bound.ts'
import { getFormat, loadUpstreamFormat } from '../../src/protocols/formats/formats.ts'
import { getBound } from '../../src/protocols/kinds/request-bounds.ts'
import type { ProviderFormat } from '../../src/types.ts'
import { type Exchange, recordedExchanges } from '../formats/support/recordings.ts'
import { cpuMs, roundsUntil } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite("the upper bound of a request's input tokens")

const folders = [
  ...['anthropic', 'bedrock-converse', 'gemini', 'openai-chat', 'openai-compatible', 'openai-completions'],
  'openai-responses',
]

/** URLs of recorded model requests, with the request format. */
const formatsByAddress: ReadonlyArray<[RegExp, ProviderFormat]> = [
  [/\/messages(?:\?|$)/, 'anthropic-messages'],
  [/enerateContent/, 'gemini'],
  [/\/responses(?:\/compact)?(?:\?|$)/, 'openai-responses'],
  [/\/converse(?:-stream)?$/, 'bedrock-converse'],
  [/\/completions(?:\?|$)/, 'openai-chat'],
]

/** Content other than text and tools: media, files, encrypted state, and references to data stored by the vendor. */
const ELSEWHERE =
  /"(?:data|bytes|encrypted_content|signature|thought_?[sS]ignature|redactedContent|file_?[iI]d|file_?[uU]ri|s3Location|previous_response_id|conversation|cached_?[cC]ontent|container|preset|models|item_reference)":|"data:|"(?:image_url|file_url|url|uri)":"?(?:https?|gs|s3):|"url":"(?:https?|gs):|mcp_servers|web_search_options|search_parameters|"plugins":|"prompt":\{|systemTool/

/** Server-side tools, whose definitions aren't in the body. */
const isVendorTool = (tool: unknown) =>
  isObject(tool) &&
  ((typeof tool.type === 'string' && !['function', 'custom', 'namespace'].includes(tool.type) && !tool.input_schema) ||
    Object.keys(tool).some((name) => /search|url_?context|code_?execution|maps|computer/i.test(name)))

/** Models that search, model aliases, and prompts stored by the vendor. */
const SEARCHES = /compound|sonar|search|:online/
const STORED_PROMPT = /\/prompts\//

interface CountInput {
  name: string
  ratio: number
  tokens: number
}

const getModel = ({ url, request }: Exchange): string => {
  const named = isObject(request) && typeof request.model === 'string' ? request.model : undefined
  return (
    named ?? decodeURIComponent(/\/models?\/([^/]+?)(?::[a-zA-Z]+|\/converse(?:-stream)?)(?:\?|$)/.exec(url)?.[1] ?? '')
  )
}

/** Returns the provider's count of a request's input, or `undefined` if it isn't a model request or nothing was counted. */
async function countedInput(exchange: Exchange): Promise<{ format: ProviderFormat; tokens: number } | undefined> {
  const format = formatsByAddress.find(([address]) => address.test(exchange.url))?.[1]
  if (exchange.status !== 200 || !format) return undefined
  const { loadReaders, framing } = await loadUpstreamFormat(format)
  const { generate: reader } = await loadReaders()
  if (!reader) return undefined
  const watchStream = await reader.loadStateFactory()
  const usage = isObject(exchange.response) ? reader.getUsage(exchange.response) : usageOfEvents(exchange, framing)
  return usage && usage.inputTokens > 0 ? { format, tokens: usage.inputTokens } : undefined

  function usageOfEvents({ sse, bytes }: Exchange, framing: StreamFraming | undefined) {
    const state = watchStream()
    if (sse !== undefined) {
      const parser = createSseParser((event) => state.observe(event))
      parser.push(sse)
      parser.end()
    } else if (bytes && framing) framing((event) => state.observe(event)).push(bytes)
    return state.usage
  }
}

/** Returns the recorded requests whose text and tools are all in the body, with the ratio of the bound to the count. */
async function ratios(): Promise<CountInput[]> {
  const found: CountInput[] = []
  for (const exchange of recordedExchanges(folders)) {
    const { request, url, name, isShrunk } = exchange
    if (!isObject(request) || isShrunk || ELSEWHERE.test(JSON.stringify(request)) || STORED_PROMPT.test(url)) continue
    const model = getModel(exchange).toLowerCase()
    if (SEARCHES.test(model) || [request.tools ?? []].flat().some(isVendorTool)) continue
    const counted = await countedInput(exchange)
    if (!counted) continue
    const bound = findBound(request, { url, model })
    found.push({ name, ratio: bound / counted.tokens, tokens: counted.tokens })
  }
  return found.sort((item, other) => item.ratio - other.ratio)
}

/** Returns the endpoint's bound. */
function findBound(request: JsonObject, { url, model }: { url: string; model: string }): number {
  const estimate = () => boundInputTokens(request, { provider: 'any', model })
  const path = url.includes('/responses/compact') ? '/v1/responses/compact' : undefined
  const endpoint = getFormat('openai-responses').endpoints.find((endpoint) => endpoint.path === path)
  return (endpoint && getBound(endpoint).inputTokens?.(request, estimate)) ?? estimate()
}

test('the input bound covers 99.9% of recorded requests, at a median of at most twice their tokens', async () => {
  const all = await ratios()
  const low = all.filter(({ ratio }) => ratio < 1)
  const median = all[Math.floor(all.length / 2)]?.ratio ?? 0
  assert.ok(all.length > 1_500, `${all.length} recorded requests`)
  assert.ok(low.length <= all.length * 0.001, `${all.length} requests, below: ${JSON.stringify(low)}`)
  assert.ok(median <= 2, `median ${median}`)
})

const target = { provider: 'any', model: 'gpt-5' }
const createRequest = (content: unknown, extra: JsonObject = {}) =>
  boundInputTokens({ model: 'm', messages: [{ role: 'user', content }], ...extra }, target)

test('the input bound covers all kinds of text', () => {
  const texts = {
    English: ['The quick brown fox jumps over the lazy dog.', 10],
    figures: ['3.14159265358979323846', 9],
    code: ['const x = items.map((item) => item.id)', 14],
    German: ['Donaudampfschifffahrtsgesellschaft', 11],
    Russian: ['Привет, как дела?', 8],
    Chinese: ['今天天气怎么样', 7],
    Thai: ['สวัสดีครับ', 8],
    emoji: ['👍🏽👨‍👩‍👧', 12],
    key: ['9fJk2LmQ8xZ0pRt5vWy7Bn3Dc1Hg6Ks4', 22],
  } as const
  for (const [name, [text, tokens]] of Object.entries(texts)) {
    const bound = createRequest(text) - createRequest('')
    assert.ok(bound >= tokens * 0.9 && bound <= tokens * 3.5, `${name}: ${bound}`)
  }
})

test('the input bound counts media by type and size, not by base64 length', () => {
  const data = 'iVBORw0KGgo'.repeat(20_000)
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }
  assert.ok(createRequest([image]) < 5_000)
  assert.is(createRequest([image, image]) > createRequest([image]), true)
  const pdf = {
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: data.slice(0, 40_000) },
  }
  assert.ok(createRequest([pdf]) > 4_000 && createRequest([pdf]) < 20_000, `${createRequest([pdf])}`)
  const audio = { type: 'input_audio', input_audio: { data, format: 'wav' } }
  assert.ok(createRequest([audio]) > 300 && createRequest([audio]) < 2_000, `${createRequest([audio])}`)
  const far = { type: 'image_url', image_url: { url: 'https://pictures.test/cat.png' } }
  assert.ok(createRequest([far]) > 1_000)
  for (const address of ['https://pictures.test/5', 'gs://pictures/5'])
    for (const unnamed of [
      { type: 'image_url', image_url: { url: address } },
      { type: 'input_image', image_url: address },
      { type: 'input_image', file_id: 'file-1' },
      { type: 'image', source: { type: 'url', url: address } },
    ])
      assert.ok(Math.abs(createRequest([unnamed]) - createRequest([far])) < 5, JSON.stringify(unnamed))
  assert.ok(createRequest([{ type: 'file', file: { file_id: 'file-1' } }]) > 10_000)
  assert.ok(createRequest([{ type: 'image', image: [{ file: { file_id: 'file-1' } }] }]) > 10_000)
})

test('the input bound includes the tokens that vendors add for tools, schemas, and server-side tools', () => {
  const tool = { name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } }
  const claude = { provider: 'anthropic', model: 'claude-sonnet-4-5' }
  const of = (extra: JsonObject) => boundInputTokens({ messages: [{ role: 'user', content: 'Hi' }], ...extra }, claude)
  const added = of({ tools: [tool] }) - of({})
  assert.ok(added > 540 && added < 700, `${added}`)
  assert.ok(of({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }) > 30_000)
  assert.ok(of({ tools: [{ type: 'provider', id: 'openai.mcp', name: 'x', args: {} }] }) > 8_000)
  for (const member of ['web_search_options', 'search_parameters']) assert.ok(of({ [member]: {} }) > 30_000, member)
  assert.ok(of({ output_config: { format: { type: 'json_schema', schema: {} } } }) > of({}) + 500)
})

test('the input bound counts prompts of token IDs', () => {
  const prompt = Array.from({ length: 1_000 }, (_, index) => index)
  assert.ok(boundInputTokens({ prompt }, target) >= 1_000)
})

test('computing the input bound of 1.5 million characters takes at most 100 ms', async () => {
  const body = { messages: [{ role: 'user', content: 'a7Z-. \n😀 word '.repeat(100_000) }] }
  const times = await roundsUntil(100, () => cpuMs(() => boundInputTokens(body, target)))
  assert.ok(Math.min(...times) <= 100, `${times} ms for 1.5 million characters`)
})
