import { gatewayError } from '../../src/errors.ts'
import type { AttemptStep } from '../../src/request/steps.ts'
import { assert, suite } from '../support/suite.ts'
import { chatEvents } from './support/responses.ts'
import { openWith } from './support/steps.ts'

const test = suite('streams that need permission to continue')

const text = Array.from({ length: 50 }, (_, index) => `word${index} `).join('')

/** Opens a gateway with streams that may produce `first` tokens, and `more` each time they ask, up to `most`. */
async function createRequest(most: number, { first = 20, more = 20, model = 'two/m' } = {}) {
  const requests: number[] = []
  const settled: Array<string | undefined> = []
  const step: AttemptStep = async (attempt, next) => {
    attempt.allowOutput({
      tokens: first,
      async extend(tokens) {
        requests.push(tokens)
        if (tokens > most) throw gatewayError('FORBIDDEN', { status: 402, message: 'Nothing is left.' })
        return tokens + more
      },
    })
    const { outcome, costSource } = await next()
    settled.push(`${outcome} ${costSource}`)
  }
  const world = await openWith({ aroundAttempt: [step] }, chatEvents(text))
  const respond = async (path: string) => {
    const reply = await world.post(path, { model, stream: true, max_tokens: 1_000, messages: [], input: 'Hi' })
    return reply.text()
  }
  return { ...world, respond, requests, settled }
}

const chat = '/v1/chat/completions'

test('a response continues unchanged while it stays within its allowance', async () => {
  const { respond, requests } = await createRequest(0, { first: 10_000 })
  assert.is(await respond(chat), chatEvents(text).join(''))
  assert.equal(requests, [])
})

test('a response requests more allowance each time it runs out, and continues if the request is granted', async () => {
  const { respond, requests } = await createRequest(Number.POSITIVE_INFINITY)
  assert.is(await respond(chat), chatEvents(text).join(''))
  assert.ok(requests.length > 2, `${requests}`)
  requests.reduce((before, tokens) => {
    assert.ok(tokens > before, `${requests}`)
    return tokens + 20
  }, 20)
})

test('a stream pauses while it waits for more allowance', async () => {
  let resume: (tokens: number) => void = () => {}
  const step: AttemptStep = (attempt, next) => {
    attempt.allowOutput({ tokens: 0, extend: () => new Promise((resolve) => (resume = resolve)) })
    return next()
  }
  const { post } = await openWith({ aroundAttempt: [step] }, chatEvents(text))
  const reader = (await post(chat, { model: 'two/m', stream: true, messages: [] })).body?.getReader()
  let isHandedOn = false
  const reading = reader?.read().then(() => {
    isHandedOn = true
  })
  await new Promise((resolve) => setTimeout(resolve, 0))
  assert.not.ok(isHandedOn)
  resume(10_000)
  await reading
  assert.ok(isHandedOn)
  await reader?.cancel()
})

for (const [path, sign] of [
  [chat, '"error":{"message":"Nothing is left."'],
  ['/v1/messages', 'event: error\ndata: {"type":"error"'],
  ['/v1/responses', '"type":"error"'],
] as const) {
  test(`a response that is denied more allowance ends with an error event (${path})`, async () => {
    const { respond, requests, settled } = await createRequest(40)
    const output = await respond(path)
    assert.ok(output.includes(sign) && output.includes('Nothing is left.'), output.slice(-400))
    assert.ok(output.includes('word1') && !output.includes('word49'))
    assert.ok(Number(requests.at(-1)) > 40)
    assert.is(settled.length, 1)
  })
}

test('a response that the provider has already sent in full is delivered completely', async () => {
  const rejectAttempt: AttemptStep = (attempt, next) => {
    const rejected = gatewayError('FORBIDDEN', { status: 402, message: 'Nothing is left.' })
    attempt.allowOutput({ tokens: 1, extend: () => Promise.reject(rejected) })
    return next()
  }
  const all = chatEvents(text).join('')
  const world = await openWith({ aroundAttempt: [rejectAttempt] }, [all])
  assert.is(await (await world.post(chat, { model: 'two/m', stream: true })).text(), all)
})
