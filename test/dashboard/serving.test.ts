import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import { assert, suite } from '../support/suite.ts'
import { builtDashboard } from './built.ts'

const { dashboard } = await builtDashboard()
const test = suite('serving the dashboard')

const ORIGIN = 'http://gateway.test'

const gatewayWith = (options: Partial<GatewayOptions> = {}) =>
  createGateway({ storage: memoryStorage(), logger: false, dashboard: dashboard(), ...options })

for (const basePath of ['', '/ai', '/a/b']) {
  test(`the dashboard is served at "${basePath}/admin/" with relative URLs`, async () => {
    const gateway = gatewayWith({ basePath })
    const moved = await gateway.fetch(`${ORIGIN}${basePath}/admin`, { redirect: 'manual' })
    assert.is(moved.status, 308)
    assert.is(new URL(moved.headers.get('location') ?? '', `${ORIGIN}${basePath}/admin`).pathname, `${basePath}/admin/`)

    const page = await gateway.fetch(`${ORIGIN}${basePath}/admin/`)
    assert.is(page.status, 200)
    assert.is(page.headers.get('content-type'), 'text/html; charset=utf-8')
    const addresses = Array.from((await page.text()).matchAll(/(?:href|src)="([^"]+)"/g), ([, address = '']) => address)
    const own = addresses.filter((address) => !address.startsWith('data:'))
    assert.is(own.length, 2)
    for (const address of own) {
      const file = await gateway.fetch(new URL(address, `${ORIGIN}${basePath}/admin/`))
      assert.is(file.status, 200, address)
      assert.is(file.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    }
    assert.is((await gateway.fetch(`${ORIGIN}${basePath}/admin/nothing`)).status, 404)
    assert.ok(gateway.matches(`${ORIGIN}${basePath}/admin/`))
  })
}

test("the dashboard's content security policy allows only its own scripts, and no framing", async () => {
  const { headers } = await gatewayWith().fetch(`${ORIGIN}/admin/`)
  const policy = headers.get('content-security-policy') ?? ''
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "frame-ancestors 'none'",
    'media-src blob:',
    "trusted-types 'none'",
  ])
    assert.ok(policy.split('; ').includes(rule), rule)
  assert.not.match(policy, /unsafe/)
  assert.is(headers.get('x-content-type-options'), 'nosniff')
  assert.is(headers.get('referrer-policy'), 'no-referrer')
})

test('the dashboard can be embedded by the configured origins, and invalid origins are rejected', async () => {
  const framed = gatewayWith({ dashboard: dashboard({ frameAncestors: ['https://admin.example'] }) })
  const { headers } = await framed.fetch(`${ORIGIN}/admin/`)
  assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors https:\/\/admin\.example(;|$)/)
  for (const origin of ['*', 'admin.example', "'self'; script-src *", 'https://admin.example/path'])
    assert.throws(() => dashboard({ frameAncestors: [origin] }), /must be origins/)
})

test('a cached dashboard page gets a 304', async () => {
  const gateway = gatewayWith()
  const etag = (await gateway.fetch(`${ORIGIN}/admin/`)).headers.get('etag') ?? ''
  const again = await gateway.fetch(`${ORIGIN}/admin/`, { headers: { 'if-none-match': etag } })
  assert.is(again.status, 304)
  assert.is(await again.text(), '')
})

test('the dashboard responds only to GET and HEAD', async () => {
  const gateway = gatewayWith()
  const head = await gateway.fetch(`${ORIGIN}/admin/`, { method: 'HEAD' })
  assert.is(head.status, 200)
  assert.is(await head.text(), '')
  const posted = await gateway.fetch(`${ORIGIN}/admin/`, { method: 'POST' })
  assert.is(posted.status, 405)
  assert.is(posted.headers.get('allow'), 'GET, HEAD')
})

test('the dashboard loads without a token, but only on local hostnames if management is unauthenticated', async () => {
  assert.is((await gatewayWith().fetch(`${ORIGIN}/admin/`)).status, 200)
  const open = gatewayWith({ management: { dangerouslyAllowUnauthenticated: true } })
  const asBrowser = (url: string) =>
    open.fetch(url, { headers: { 'sec-fetch-mode': 'navigate', host: new URL(url).host } })
  assert.is((await asBrowser('http://localhost/admin/')).status, 200)
  assert.is((await asBrowser('http://rebound.example/admin/')).status, 403)
})

test('without the `dashboard` option, the dashboard path returns a 404', async () => {
  const gateway = createGateway({ storage: memoryStorage(), logger: false })
  assert.is((await gateway.fetch(`${ORIGIN}/admin/`)).status, 404)
  assert.not.ok(gateway.matches(`${ORIGIN}/admin/`))
  assert.is(await gateway.handle(new Request(`${ORIGIN}/admin/`)), undefined)
})

test("a `dashboard` option that dashboard() didn't create is rejected", () => {
  assert.throws(
    () => Reflect.apply(createGateway, undefined, [{ storage: memoryStorage(), dashboard: true }]),
    /dashboard\(\)/,
  )
})
