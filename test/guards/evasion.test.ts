import { pii, words } from '../../src/features/guards/guards.ts'
import { chatAnswer } from '../pipeline/support/answers.ts'
import { fakeUpstream } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { openWorld, WORD } from './world.ts'

const test = suite('guards against evasion')

const builtIn = words({ name: 'w', words: [WORD] })
const toChat = (content: unknown) => ({ model: 'one/m', messages: [{ role: 'user', content }] })
const toMessage = (content: unknown) => ({ ...toChat(content), max_tokens: 9 })
const toFile = (data: string) => toChat([{ type: 'file', file: { file_data: data } }])
const inLines = btoa(`${'a line '.repeat(20)}${WORD} `).replace(/(.{40})/g, '$1\n')

const hidden: Record<string, [path: string, body: unknown]> = {
  'a text that begins like a data URL': ['/v1/chat/completions', toChat(`data: ${WORD}`)],
  'a text that is a data URL of an image': ['/v1/chat/completions', toChat(`data:image/png;base64,${WORD}`)],
  'a document whose text is a data URL': [
    '/v1/messages',
    toMessage([{ type: 'document', title: 'data:,a', source: { type: 'text', data: `data:,${WORD}` } }]),
  ],
  'a data URL in capitals': ['/v1/chat/completions', toFile(`DATA:text/plain;base64,${btoa(`Say ${WORD}`)}`)],
  'a text file without a media type': ['/v1/chat/completions', toFile(btoa(`Say ${WORD}`))],
  'a text file with a type of bytes': [
    '/v1/chat/completions',
    toFile(`data:application/octet-stream;base64,${btoa(`Say ${WORD}`)}`),
  ],
  'a text file in lines of base64': [
    '/v1/messages',
    toMessage([{ type: 'document', source: { type: 'base64', media_type: 'text/plain', data: inLines } }]),
  ],
  'a field that appears twice with different types': [
    '/v1/chat/completions',
    `{"model":"one/m","messages":[{"role":"user","content":[{"type":"text","text":"${WORD}"}],"content":"Hi"}]}`,
  ],
}

for (const [title, [path, body]] of Object.entries(hidden))
  test(`a word is refused in ${title}`, async () => {
    const { send, upstream } = await openWorld([builtIn])
    const response = await send(path, body)
    assert.is(response.status, 400, await response.text())
    assert.is(upstream.calls.length, 0)
  })

test('an image in a field for media is not searched as text', async () => {
  const { send } = await openWorld([builtIn])
  const url = `data:image/png;base64,AAAA/${WORD}/AAAA`
  const response = await send('/v1/chat/completions', toChat([{ type: 'image_url', image_url: { url } }]))
  assert.is(response.status, 200, await response.text())
})

test('many matches take linear time', async () => {
  const parts = Array.from({ length: 40_000 }, () => ({ type: 'text', text: WORD }))
  const emails = Array.from({ length: 40_000 }, (_, at) => `a${at}@b.com`).join(' ')
  const masks = pii({ name: 'm', action: 'mask' })
  const before = process.cpuUsage()
  const refused = await (await openWorld([builtIn])).send('/v1/chat/completions', toChat(parts))
  assert.is(refused.status, 400)
  const { send, upstream } = await openWorld([masks])
  assert.is((await send('/v1/chat/completions', toChat(emails))).status, 200)
  const { user } = process.cpuUsage(before)
  assert.ok(user < 2_000_000, `${user} µs`)
  assert.match(upstream.calls[0]?.body ?? '', 'EMAIL-40000-')
})

for (const isStream of [false, true])
  test(`an audio response keeps its bytes${isStream ? ' in a stream' : ''}`, async () => {
    const bytes = new Uint8Array(5_000).map((_, at) => (at * 37) % 256)
    const body = () => (isStream ? new Blob([bytes]).stream() : bytes)
    const fetch = fakeUpstream(() => new Response(body(), { headers: { 'content-type': 'audio/mpeg' } }))
    const { send } = await openWorld([builtIn], { options: { fetch } })
    const response = await send('/v1/audio/speech', { model: 'one/m', input: 'Hi', voice: 'alloy' })
    assert.equal(new Uint8Array(await response.arrayBuffer()), bytes)
    assert.is(response.headers.get('x-signalbox-guards'), null)
  })

test('an unpaired surrogate in a response passes', async () => {
  const { say } = await openWorld([builtIn], { answer: chatAnswer('Hello \ud83d') })
  const response = await say('openai-chat', 'Hi')
  assert.is(response.status, 200)
  assert.match(await response.text(), 'Hello')
})
