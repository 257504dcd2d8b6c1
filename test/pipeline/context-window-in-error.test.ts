import { assert, suite } from '../support/suite.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld, catalog as usual } from './support/world.ts'

const test = suite('context windows in provider errors')

/**
 * Returns the attempts of a request if its first target, `one`, returns this error and can fall back to `two` and `three`, given their context
 * windows.
 */
async function getAttempts(content: string, windows: { one?: number; two?: number; three?: number }) {
  const catalog = { ...usual }
  for (const [provider, contextWindow] of Object.entries(windows))
    catalog[provider] = { ...usual[provider], models: [{ id: 'm', contextWindow }] }
  const rejection = { error: { message: content, code: 'context_length_exceeded' } }
  const upstream = fakeUpstream(({ provider }) => (provider === 'one' ? json(rejection, 400) : json(chatResponse())))
  const world = await openWorld({ fetch: upstream, catalog, combos: { chain: ['one/m', 'two/m', 'three/m'] } })
  const response = await world.chat({ model: 'chain' })
  return `${response.status} ${response.headers.get('x-signalbox-attempts')?.replace(';via=chain:fallback', '')}`
}

const LIMITS: ReadonlyArray<readonly [output: string, limit: number]> = [
  ["This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", 8_192],
  ['the decoder prompt (length 9001) is longer than the maximum model length of 8192.', 8_192],
  ["This model's maximum prompt length is 131072 but the request contains 136973 tokens.", 131_072],
  ['prompt is too long: 210000 tokens > 200000 maximum', 200_000],
  ['input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length', 200_000],
  ['The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
  ['The input token count exceeds the maximum number of tokens allowed 1048576.', 1_048_576],
  ['Prompt contains 40000 tokens, too large for model with 32768 maximum context length', 32_768],
  ['request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it', 4_096],
  ['The model is loaded with context length of only 4096 tokens', 4_096],
  ['`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 8000 `inputs` tokens', 8_193],
  ['Your request exceeded model token limit: 131,072', 131_072],
  ['Range of input length should be [1, 30720]', 30_720],
  ['too many tokens: the prompt cannot exceed 4081', 4_081],
]

for (const [output, limit] of LIMITS) {
  test(`the context window in an error is used if the catalog has none: ${output}`, async () => {
    assert.is(
      await getAttempts(output, { two: limit, three: limit + 1 }),
      '200 one/m=400:context-overflow, two/m=skipped:context-overflow, three/m=200',
    )
  })
}

const [[output] = ['']] = LIMITS

test('the context window in an error is ignored if the catalog has one', async () => {
  assert.is(
    await getAttempts(output, { one: 32_000, two: 16_000, three: 64_000 }),
    '200 one/m=400:context-overflow, two/m=skipped:context-overflow, three/m=200',
  )
})

test('after a context overflow, a target with an unknown context window is skipped', async () => {
  assert.is(
    await getAttempts(output, { three: 8_000 }),
    '400 one/m=400:context-overflow, two/m=skipped:context-overflow, three/m=skipped:context-overflow',
  )
})

test("an overflow error that states only the request's size causes no fallback", async () => {
  assert.is(
    await getAttempts('Your input of 9000 tokens exceeds the context window of this model.', { two: 1_000_000 }),
    '400 one/m=400:context-overflow, two/m=skipped:context-overflow, three/m=skipped:context-overflow',
  )
})
