import { startUpstream } from '../runtimes/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { type App, type AppOptions, openApp } from './app.ts'

/** The requests of a day that the pages' plan allows. */
const DAILY = 20
const STREAM = /"Hel"[\s\S]*"lo"[\s\S]*data: \[DONE\]/

export interface HostOptions extends AppOptions {
  /** Signs a user in, and returns the headers of the user's requests, such as a cookie. */
  signIn(origin: string, user: string): Promise<Record<string, string>>
}

/** Tests that the page `slug` makes an app whose signed-in users chat within their own limits, and that others can't. */
export function serves(slug: string, { signIn, ...options }: HostOptions) {
  const test = suite<{ app: App }>(`the recipe ${slug}`)
  let upstream: Awaited<ReturnType<typeof startUpstream>>
  let origin = ''

  const chat = (headers: Record<string, string>) =>
    fetch(`${origin}/ai/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'chat', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
    })

  test.before({ timeoutMs: 300_000 }, async (context) => {
    upstream = await startUpstream()
    context.app = await openApp(slug, { ...options, providerUrl: upstream.url })
    origin = await context.app.serve()
  })
  test.after(async ({ app }) => {
    await app?.remove()
    upstream?.close()
  })

  test(`${slug}: the page's own request gets a stream`, async ({ app }) => {
    assert.match(await app.ask(), STREAM)
  })

  test(`${slug}: a signed-in user gets a stream`, async () => {
    const response = await chat(await signIn(origin, 'grace'))
    assert.is(response.status, 200, await response.clone().text())
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
    assert.match(await response.text(), STREAM)
  })

  test(`${slug}: a signed-out user gets a 401`, async () => {
    assert.is((await chat({})).status, 401)
  })

  test(`${slug}: a page of another site can't use a user's session`, async () => {
    const user = await signIn(origin, 'grace')
    assert.is(
      (await chat({ ...user, origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' })).status,
      403,
    )
  })

  test(`${slug}: a user reaches their limit, and another user's limit is untouched`, async () => {
    const [alan, barbara] = [await signIn(origin, 'alan'), await signIn(origin, 'barbara')]
    for (let sent = 0; sent < DAILY; sent++) {
      const response = await chat(alan)
      assert.is(response.status, 200, await response.clone().text())
      await response.text()
    }
    const rejected = await chat(alan)
    assert.is(rejected.status, 429)
    assert.is((await rejected.json()).error.code, 'rate_limit_exceeded')
    const other = await chat(barbara)
    assert.is(other.status, 200)
    assert.match(await other.text(), STREAM)
  })

  return test
}
