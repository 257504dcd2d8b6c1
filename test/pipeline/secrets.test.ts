import { assert, suite } from '../support/suite.ts'
import { chatEvents, messageEvents } from './support/answers.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite("a credential that a provider quotes stays the gateway's")

const SECRET = 'sk-A/quoted+Secret=='
const SPELLINGS = [SECRET, `Bearer ${SECRET}`]
const connections = [
  { provider: 'one', apiKey: SECRET },
  { provider: 'claude', apiKey: SECRET },
]

async function open(answer: () => Response) {
  const logged: unknown[] = []
  const log = (...line: unknown[]) => void logged.push(line)
  const logger = { debug: log, info: log, warn: log, error: log }
  const world = await openWorld({ fetch: fakeUpstream(answer), connections, logger })
  async function assertKept(response: Response, what: string): Promise<string> {
    const shown = (await response.text()) + JSON.stringify([...response.headers])
    const { attempts, requests, usages, errors } = world.told
    const health = await world.api.health.list()
    const all = shown + JSON.stringify([attempts, requests, usages, errors.map(String), logged, health])
    assert.not.ok(all.replaceAll('\\/', '/').includes(SECRET), `${what}: ${all}`)
    return shown
  }
  return { world, assertKept }
}

for (const status of [400, 401, 404, 429, 500, 503]) {
  test(`in the body of a ${status}, plain, in JSON, or spelt in another way`, async () => {
    for (const said of SPELLINGS) {
      const bodies = [
        JSON.stringify({ error: { message: `Bad: ${said}` } }),
        JSON.stringify({ error: { message: 'Bad', debug: { headers: [said] } } }),
        JSON.stringify({ error: { message: 'Bad', debug: said } }).replaceAll('/', '\\/'),
        JSON.stringify({ type: 'error', error: { type: 'x', message: `Bad: ${said}` } }),
        `Bad: ${said}`,
      ]
      for (const body of bodies) {
        const { world, assertKept } = await open(() => json(body, status))
        await assertKept(await world.chat({}), body)
        await assertKept(await world.messages({}), body)
        await assertKept(await world.messages({ model: 'one/m' }), body)
      }
    }
  })
}

test('in a header of an error', async () => {
  const error = { error: { message: 'no' } }
  const { world, assertKept } = await open(() => json(error, 429, { 'x-debug': `Bearer ${SECRET}`, 'x-other': 'kept' }))
  const response = await world.chat({})
  assert.is(response.headers.get('x-other'), 'kept')
  assert.match(await assertKept(response, 'a header'), /"no"/)
})

const chatError = `data: ${JSON.stringify({ error: { message: `Bad: ${SECRET}` } })}\n\n`
const messageError = `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'api_error', message: `Bad: ${SECRET}` } })}\n\n`

test('in an error in mid stream: another error stands in its place', async () => {
  for (const rest of ['', 'data: [DONE]\n\n', 'data: [DONE]']) {
    for (const glued of [false, true]) {
      const events = [...chatEvents().slice(0, 3), chatError + rest]
      const { world, assertKept } = await open(() => sse(glued ? [events.join('')] : events))
      const text = await assertKept(await world.chat({ stream: true }), `${rest} ${glued}`)
      assert.is(text.includes('Hello '), !glued, 'what came with it is lost')
      assert.match(
        text,
        /data: \{"error":\{"message":"The provider quoted the credential of the connection\."[^\n]*\n\n\[/,
      )
      assert.is(world.told.requests[0]?.status, 502)
    }
  }
  const said = [...messageEvents().slice(0, 5), messageError]
  const { world, assertKept } = await open(() => sse(said))
  assert.match(await assertKept(await world.messages({ stream: true }), 'messages'), /event: error\ndata: [^\n]*quoted/)
})

test('in an error in mid stream that lacks its blank line', async () => {
  const { world, assertKept } = await open(() => sse([...chatEvents().slice(0, 3), chatError.trimEnd()]))
  assert.match(await assertKept(await world.chat({ stream: true }), 'no blank line'), /quoted the credential/)
})

test('in an error in mid stream that is translated, and in one before the first word', async () => {
  const begun = await open(() => sse([...chatEvents().slice(0, 3), chatError]))
  const translated = await begun.assertKept(await begun.world.messages({ model: 'one/m', stream: true }), 'translated')
  assert.match(translated, /event: error\ndata: [^\n]*Bad: \[credential\]/)
  const first = await open(() => sse(chatError))
  assert.match(await first.assertKept(await first.world.chat({ stream: true }), 'first'), /Bad: \[credential\]/)
})
