import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startUpstream } from '../runtimes/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { type App, openApp } from './app.ts'
import { DAILY } from './scenario.ts'

/** The parts of the page's client that these tests use. */
type CreateClient = (token?: string) => {
  login: { mutate(input: { user: string }): Promise<{ token: string }> }
  ask: { mutate(prompt: string): Promise<AsyncIterable<string>> }
}

const test = suite<{ app: App; createClient: CreateClient }>('the recipe trpc')
let upstream: Awaited<ReturnType<typeof startUpstream>>

test.before(async (context) => {
  upstream = await startUpstream()
  context.app = await openApp('trpc', { providerUrl: upstream.url })
  await context.app.serve()
  const { createClient } = await import(pathToFileURL(join(context.app.folder, 'client.ts')).href)
  context.createClient = createClient
})
test.after(async ({ app }) => {
  await app?.remove()
  upstream?.close()
})

async function send(client: ReturnType<CreateClient>): Promise<string[]> {
  const parts: string[] = []
  for await (const part of await client.ask.mutate('Hello')) parts.push(part)
  return parts
}

/** Returns the code and HTTP status of the error that `promise` rejects with. */
async function getRejection(promise: Promise<unknown>): Promise<{ code: string; httpStatus: number }> {
  const [{ reason }] = (await Promise.allSettled([promise])) as [PromiseRejectedResult] // the type covers promises that resolve, which have no reason
  const { code, httpStatus } = reason.data
  return { code, httpStatus }
}

test('trpc: the request on the page gets a stream', async ({ app }) => {
  assert.is(await app.send(), 'Hello')
})

test('trpc: a signed-out user gets a 401', async ({ createClient }) => {
  assert.equal(await getRejection(send(createClient())), { code: 'UNAUTHORIZED', httpStatus: 401 })
})

test("trpc: one user reaching their limit doesn't affect another user", async ({ createClient }) => {
  const open = async (user: string) => createClient((await createClient().login.mutate({ user })).token)
  const [alan, barbara] = [await open('alan'), await open('barbara')]
  for (let sent = 0; sent < DAILY; sent++) assert.equal(await send(alan), ['Hel', 'lo'])
  assert.equal(await getRejection(send(alan)), { code: 'TOO_MANY_REQUESTS', httpStatus: 429 })
  assert.equal(await send(barbara), ['Hel', 'lo'])
})
