import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Feature } from '../../src/feature.ts'
import { createGateway } from '../../src/gateway.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { isFile, parseForm } from '../../src/lib/multipart.ts'
import { wav } from '../kinds/transcription/sample.ts'
import { hearingCatalog } from '../kinds/transcription/vendors.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('steps that change multipart forms')

type Field = [name: string, value: string]

/** Sends a form through a step that changes its body. Returns the fields that the provider receives. */
async function send(fields: readonly Field[], change: (body: JsonObject) => JsonObject): Promise<Field[]> {
  const upstream = fakeUpstream(() => json({ text: 'Hi' }))
  const changing: Feature = {
    name: 'changing',
    aroundCall: (call, next) => next({ body: change(call.body as JsonObject) }),
  }
  const options = { storage: memoryStorage(), fetch: upstream, logger: false, catalog: hearingCatalog } as const
  const gateway = createGateway({ ...options, extend: [changing] })
  await gateway.api.connections.create({ provider: 'openai', apiKey: 'k' })
  const form = new FormData()
  for (const [name, value] of [...fields, ['model', 'openai/m'] as const]) form.append(name, value)
  form.append('file', new File([wav.slice()], 'said.wav', { type: 'audio/wav' }))
  const request = new Request('http://gateway/v1/audio/transcriptions', { method: 'POST', body: form })
  const response = await gateway.fetch(request)
  assert.is(response.status, 200, await response.clone().text())
  const [call] = upstream.calls
  assert.ok(call)
  const parts = parseForm(call.init.body as Uint8Array, call.headers.get('content-type') ?? '')
  assert.is(parts.filter(isFile).length, 1)
  return parts.flatMap((part) => (isFile(part) || part.name === 'model' ? [] : [[part.name, part.value]]))
}

const TIMES = 'timestamp_granularities'
const both: Field[] = [
  [`${TIMES}[]`, 'word'],
  [`${TIMES}[]`, 'segment'],
]
const nested: Field[] = [
  ['chunking_strategy[type]', 'server_vad'],
  ['chunking_strategy[threshold]', '0.5'],
]

const cases: Record<string, { sent: Field[]; change: JsonObject; got: Field[] }> = {
  'a shorter list': { sent: both, change: { [TIMES]: ['segment'] }, got: [[`${TIMES}[]`, 'segment']] },
  'a longer list': { sent: both.slice(0, 1), change: { [TIMES]: ['word', 'segment'] }, got: both },
  'a longer list with an index in its name': {
    sent: [['include[0]', 'a']],
    change: { include: ['a', 'b', 'c'] },
    got: ['a', 'b', 'c'].map((value) => ['include[]', value]),
  },
  'an empty list': { sent: both, change: { [TIMES]: [] }, got: [] },
  'a scalar instead of a list': { sent: both, change: { [TIMES]: 'word' }, got: [[`${TIMES}[]`, 'word']] },
  'a list instead of a scalar': {
    sent: [['include', 'logprobs']],
    change: { include: ['logprobs', 'other'] },
    got: [
      ['include[]', 'logprobs'],
      ['include[]', 'other'],
    ],
  },
  'an object without one of its fields': {
    sent: nested,
    change: { chunking_strategy: { type: 'server_vad' } },
    got: nested.slice(0, 1),
  },
  'an object with an additional field': {
    sent: nested.slice(0, 1),
    change: { chunking_strategy: { type: 'server_vad', threshold: 0.5 } },
    got: nested,
  },
  'a scalar instead of an object': {
    sent: nested,
    change: { chunking_strategy: 'auto' },
    got: [['chunking_strategy', 'auto']],
  },
  undefined: { sent: [['language', 'en']], change: { language: undefined }, got: [] },
  'a new list': { sent: [], change: { [TIMES]: ['word', 'segment'] }, got: both },
  'another value': {
    sent: [['language', 'en'], ...both],
    change: { language: 'de' },
    got: [['language', 'de'], ...both],
  },
}
for (const [label, { sent, change, got }] of Object.entries(cases))
  test(`a step can change a form field to ${label}`, async () => {
    assert.equal(await send(sent, (body) => ({ ...body, ...change })), got)
  })

test("the provider doesn't get a field that a step removed, except for files", async () => {
  assert.equal(await send(both, ({ [TIMES]: _, file: __, ...body }) => body), [])
})
