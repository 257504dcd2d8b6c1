import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { fakeUpstream, json } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, skip, suite } from '../../support/suite.ts'

const test = suite('recorded embeddings')

const folder = new URL('../../../../shared/recordings/embeddings/', import.meta.url)

interface Interaction {
  request: { url: string; body: { json?: Record<string, unknown> } }
  response: { status: number; headers?: Record<string, unknown>; body: { json?: Record<string, unknown> } }
}

/** Connections by recording folder. */
const connections: Record<string, { provider: string; apiKey?: string; providerSpecificData?: object }> = {
  azure: { provider: 'azure', apiKey: 'azure-key-1', providerSpecificData: { resource: 'mine' } },
  bedrock: {
    provider: 'bedrock',
    apiKey: 'ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl',
    providerSpecificData: { region: 'us-east-1' },
  },
  cohere: { provider: 'cohere' },
  gemini: { provider: 'google' },
  mistral: { provider: 'mistral' },
  openai: { provider: 'openai' },
  openrouter: { provider: 'openrouter' },
  vertex: { provider: 'vertex', apiKey: 'ya29.token', providerSpecificData: { project: 'mine' } },
  voyage: { provider: 'voyage' },
}

function* recordings(): Generator<{ file: string; vendor: string } & Interaction> {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.http.json')) continue
    const [vendor = ''] = name.split('/')
    const { interactions }: { interactions: Interaction[] } = JSON.parse(readFileSync(new URL(name, folder), 'utf8'))
    for (const interaction of interactions) yield { file: name, vendor, ...interaction }
  }
}

/** Returns the texts in a request of any vendor's format. */
function getTexts({
  input,
  texts,
  requests,
  content,
  instances,
  inputText,
  singleEmbeddingParams,
}: Record<string, unknown>): string[] {
  const getParts = (item: unknown) => (Object(item).parts as { text: string }[]).map(({ text }) => text).join('')
  if (Array.isArray(requests)) return requests.map((request) => getParts(request.content))
  if (Array.isArray(instances)) return instances.map((instance) => instance.content)
  if (content) return [getParts(content)]
  const found = texts ?? input ?? inputText ?? Object(Object(singleEmbeddingParams).text).value
  return Array.isArray(found) ? found : [found]
}

const getModel = (url: string, body: Record<string, unknown>) =>
  String(body.model ?? decodeURIComponent(/models?\/([^/]+?)(?::\w+|\/invoke)$/.exec(url)?.[1] ?? '')).replace(
    'models/',
    '',
  )

test("recorded vendor responses reach every client in the client's format", async () => {
  if (!existsSync(folder)) skip('recordings: ../shared/recordings is missing')
  let responses = 0
  for (const { file, vendor, request, response } of recordings()) {
    const connection = connections[vendor]
    const { json: sent } = request.body
    const { json: input } = response.body
    if (!connection || !sent || !input || response.status !== 200) continue
    const texts = getTexts(sent)
    if (!texts.every((text) => typeof text === 'string')) continue // skips images
    const upstream = fakeUpstream(() => json(input))
    const { post, recorded } = await openWorld({
      fetch: upstream,
      catalog: defaultCatalog,
      connections: [connection as never],
    })
    const model = `${connection.provider}/${getModel(request.url, sent)}`
    for (const [path, body] of [
      ['/v1/embeddings', { model, input: texts, encoding_format: 'base64' }],
      ['/v1/embeddings', { model, input: texts }],
      ['/v2/embed', { model, texts, input_type: 'search_document' }],
    ] as const) {
      const requested = await post(path, body)
      assert.is(requested.status, 200, `${file} ${path} ${await requested.clone().text()}`)
      const response = (await requested.json()) as Record<string, unknown>
      const vectors = path === '/v2/embed' ? Object(response.embeddings).float : (response.data as unknown[])
      assert.is(vectors.length, texts.length, file)
      responses++
    }
    assert.equal(recorded.errors, [], file)
  }
  assert.ok(responses > 100, `only ${responses} responses`)
})
