import * as estimates from '../../src/pricing/estimates.ts'
import { createStreamProgress, loadResponseReader } from '../../src/protocols/formats/format.ts'
import { operations } from '../../src/protocols/formats/model-operations.ts'
import { openaiChat } from '../../src/protocols/formats/openai-chat/chat-format.ts'
import { relayStream, type StreamEnd } from '../../src/request/codec/relay.ts'
import type { KnownKeys } from '../../src/request/codec/secrets.ts'
import type { ModelRequest } from '../../src/request/model-request.ts'
import type { AnsweredAttempt } from '../../src/request/outcome.ts'
import { createResponseReply } from '../../src/request/reply/response-reply.ts'
import { assert, suite } from '../support/suite.ts'
import { getChunks } from './support/raw.ts'
import { chatEvents } from './support/responses.ts'

const reader = await loadResponseReader(openaiChat, operations.generate)

const test = suite("streams on a gateway that can't list its provider keys")

const encode = (text: string) => new TextEncoder().encode(text)
const quoting = 'data: {"error":{"message":"Bad key: the-key-of-another","code":"invalid_api_key"}}\n\n'

for (const [when, chunks, fault] of [
  ['begins with an error', [quoting], 'RangeError: unreadable'],
  ['ends with an error without a blank line', [chatEvents()[0] ?? '', quoting.trimEnd()], 'undefined'],
] as const)
  test(`the provider's error is replaced by a gateway error if the stream ${when}`, async () => {
    const ends: StreamEnd[] = []
    const relayed = relayStream(
      getChunks(chunks.map(encode)),
      { head: [], state: { ...createStreamProgress(), observe() {} } },
      {
        format: openaiChat,
        reader,
        secrets: [],
        maxStreamBytes: 10_000,
        knownKeys: () => Promise.reject(new RangeError('unreadable')),
        onEnd: (end) => void ends.push(end),
        estimates,
      },
    )
    let text = ''
    for (let chunk = await relayed.next(); chunk; chunk = await relayed.next()) text += new TextDecoder().decode(chunk)
    assert.match(text, /data: \{"error":\{[^\n]*Internal server error[^\n]*\n\n$/)
    assert.not.ok(text.includes('the-key'))
    assert.equal(
      ends.map(({ internalError }) => String(internalError)),
      [fault],
    )
  })

test('a stream is canceled if one of its headers might quote a key', async () => {
  const unreadable = new RangeError('unreadable')
  const knownKeys: KnownKeys = { list: () => Promise.reject(unreadable), getFinder: () => undefined }
  const canceled: unknown[] = []
  const response = {
    kind: 'stream',
    head: { status: 200, headers: () => [['x-debug', 'Bearer the-key-of-another']] },
    body: { cancel: (reason: unknown) => void canceled.push(reason) },
  }
  const answered = { response, codec: { isPassThrough: true }, route: {} } as unknown as AnsweredAttempt
  const request = { context: { knownKeys }, table: { connections: [] } } as unknown as ModelRequest
  await createResponseReply(answered, request).then(
    () => assert.unreachable(),
    (error: unknown) => assert.is(error, unreadable),
  )
  assert.equal(canceled, [unreadable])
})
