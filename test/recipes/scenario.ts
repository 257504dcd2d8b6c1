import { startUpstream } from '../runtimes/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { type AppOptions, openApp } from './app.ts'

/** The number of requests per day that the plan on the pages allows. */
export const DAILY = 20
const STREAM = /"Hel"[\s\S]*"lo"[\s\S]*data: \[DONE\]/

interface ServedApp {
  origin: string
  /** Sends the request on the page. Resolves to its output. */
  request?(): Promise<string>
  close(): Promise<unknown>
}

/** Signs a user in. Resolves to the headers for the user's requests, such as a cookie. */
type SignIn = (origin: string, user: string) => Promise<Record<string, string>>

/** Starts the app on the page `slug` as the page describes. */
const start = (slug: string, options?: AppOptions) => async (providerUrl: string) => {
  const { serve, send: request, remove } = await openApp(slug, { ...options, providerUrl })
  try {
    return { origin: await serve(), request, close: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Tests that in the app built from the page `slug`, signed-in users can chat within their own limits, and nobody else can chat. */
export function serves(slug: string, signIn: SignIn, options?: AppOptions) {
  return addRecipeTests(slug, signIn, start(slug, options))
}

/** Tests the same for an app that `open` starts. */
export function addRecipeTests(slug: string, signIn: SignIn, open: (providerUrl: string) => Promise<ServedApp>) {
  const test = suite<{ app: ServedApp }>(`the recipe ${slug}`)
  let upstream: Awaited<ReturnType<typeof startUpstream>>
  let origin = ''

  const signedIn = new Map<string, ReturnType<SignIn>>()
  const getHeaders = async (user: string) => {
    const headers = signedIn.get(user) ?? signIn(origin, user)
    signedIn.set(user, headers)
    return headers
  }

  const chat = (headers: Record<string, string>) =>
    fetch(`${origin}/ai/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'chat', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
    })

  test.before({ timeoutMs: 300_000 }, async (context) => {
    upstream = await startUpstream()
    context.app = await open(upstream.url)
    origin = context.app.origin
  })
  test.after(async ({ app }) => {
    await app?.close()
    upstream?.close()
  })

  test(`${slug}: a signed-in user gets a stream, including from the page's own request`, async ({ app }) => {
    const response = await chat(await getHeaders('grace'))
    assert.is(response.status, 200, await response.clone().text())
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
    assert.match(await response.text(), STREAM)
    if (app.request) assert.match(await app.request(), STREAM)
  })

  test(`${slug}: a signed-out user gets a 401`, async () => {
    assert.is((await chat({})).status, 401)
  })

  test(`${slug}: the app's own pages can use a user's session, and pages on other sites can't`, async () => {
    const user = await getHeaders('grace')
    const own = { ...user, origin, 'sec-fetch-site': 'same-origin' }
    const other = { ...user, origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' }
    assert.equal([(await chat(own)).status, (await chat(other)).status], [200, 403])
  })

  test(`${slug}: one user reaching their limit doesn't affect another user`, async () => {
    const [alan, barbara] = [await getHeaders('alan'), await getHeaders('barbara')]
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
