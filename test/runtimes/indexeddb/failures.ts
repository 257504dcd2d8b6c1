import { randomBytes } from 'node:crypto'
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { assert, type Suite } from '../../support/suite.ts'
import { act, startSite } from './site.ts'

interface Reply {
  result?: unknown
  name?: string
  code?: string
  message?: string
}

/** Tests browser database failures, and what watchers receive. */
export function testFailures(test: Suite<{ browser?: Browser }>): void {
  let site: Awaited<ReturnType<typeof startSite>>
  let context: BrowserContext
  /** Two tabs. Each test starts with its own database. */
  let page: Page
  let other: Page
  let cdp: CDPSession
  let databases = 0
  let name = ''

  test.before({ timeoutMs: 300_000 }, async ({ browser }) => {
    site = await startSite('indexeddb-page.mjs', 'indexeddb-worker.mjs')
    context = await (browser as Browser).newContext() // launched by `before`
  })
  test.after(async () => {
    await context?.close()
    site?.close()
  })

  const call = (where: Page, method: string, ...args: unknown[]) => act<Reply>(where, 'call', method, ...args)
  const getText = ({ result }: Reply) => (result as { value?: string } | undefined)?.value // the result of a `get`
  const until = async (is: () => Promise<boolean>) => {
    for (const end = performance.now() + 30_000; !(await is()); await page.waitForTimeout(20))
      if (performance.now() > end) throw new Error('waited for 30 s')
  }
  const assertRejected = (response: Reply, code: string, text: RegExp) => {
    assert.equal([response.name, response.code], ['StorageError', code], response.message)
    assert.match(response.message ?? '', text)
    assert.match(response.message ?? '', name)
  }

  /** Runs a test with two tabs that have both opened the storage. */
  const inTabs = (title: string, body: () => Promise<void>) =>
    test(title, async () => {
      name = `database ${++databases}`
      ;[page, other] = await Promise.all([context.newPage(), context.newPage()])
      await Promise.all([page, other].map((each) => each.goto(site.url)))
      cdp = await context.newCDPSession(page)
      for (const each of [page, other]) await act(each, 'open', name)
      await call(page, 'set', 'key', 'value')
      await call(other, 'get', 'key')
      try {
        await body()
      } finally {
        await Promise.all([page.close(), other.close()])
      }
    })

  inTabs('another tab can delete an open database, and later calls fail instead of finding it empty', async () => {
    assert.is(await act(other, 'remove', name), 'deleted')
    await until(async () => (await act<string[]>(page, 'received')).includes('gap'))
    for (const [method, ...args] of [['get', 'key'], ['list', ''], ['set', 'key', 'new'], ['ownSecret']] as const)
      assertRejected(
        await call(page, method, ...args),
        'STORAGE_MISSING',
        /was deleted while it was in use.*reload the page/,
      )
    assert.not.ok((await act<string[]>(page, 'names')).includes(name), 'it was recreated')

    await act(other, 'open', name)
    await call(other, 'set', 'key', 'of the next one')
    assertRejected(await call(page, 'get', 'key'), 'STORAGE_MISSING', /was deleted/)
    await act(page, 'open', name)
    assert.is(getText(await call(page, 'get', 'key')), 'of the next one')
  })

  inTabs('calls fail with STORAGE_LOCKED while another tab blocks a deletion', async () => {
    await act(other, 'hold', name)
    assert.is(await act(page, 'remove', name), 'blocked')
    await act(page, 'open', name)
    assertRejected(await call(page, 'set', 'key', 'new'), 'STORAGE_LOCKED', /another tab.*Nothing was written/)
    await act(other, 'release')
    await until(async () => !(await call(page, 'get', 'key')).code)
    assert.is(getText(await call(page, 'get', 'key')), undefined, 'the recreated database is empty')
  })

  inTabs('a write that fails because another tab blocks it is not applied later', async () => {
    await act(other, 'hold', name)
    await act(other, 'occupy')
    assertRejected(await call(page, 'set', 'late', 'value'), 'STORAGE_LOCKED', /was locked by another tab/)
    await act(other, 'leave')
    assert.is(typeof (await call(page, 'set', 'next', 'value')).result, 'string')
    assert.equal(await call(page, 'get', 'late'), { result: undefined })
  })

  inTabs("after a newer release upgrades the database, the older release's error explains what to do", async () => {
    await act(other, 'hold', name, 2)
    assertRejected(await call(page, 'get', 'key'), 'STORAGE_NEWER_VERSION', /Reload the page/)
  })

  inTabs("storage calls on another program's database fail", async () => {
    name = `${name} of another`
    await act(other, 'hold', name, 1, ['theirs'])
    await act(page, 'open', name)
    assertRejected(await call(page, 'set', 'key', 'value'), 'STORAGE_CORRUPT', /another name/)
  })

  inTabs('entries written by another program count as damaged, and can be replaced and removed', async () => {
    await act(other, 'hold', name)
    await act(other, 'plant')
    const damaged = {
      text: '"text"',
      number: '5',
      blank: 'null',
      loop: '[object Object]',
      large: '5',
      row: '{"value":5}',
    }
    const listed = (await call(page, 'list', '')).result as Array<{ key: string; value: string; version: string }>
    assert.equal(Object.fromEntries(listed.map(({ key, value }) => [key, value])), {
      key: 'value',
      'foreign/date': '"1970-01-01T00:00:00.000Z"',
      'foreign/last': 'of a gateway',
      ...Object.fromEntries(Object.entries(damaged).map(([key, value]) => [`foreign/${key}`, value])),
    })
    const { version } = (await call(page, 'get', 'foreign/row')).result as { version: string }
    assert.is((await call(page, 'set', 'foreign/row', 'new', { ifVersion: null })).result, false)
    assert.type((await call(page, 'set', 'foreign/row', 'new', { ifVersion: version })).result, 'string')
    assert.is(getText(await call(other, 'get', 'foreign/row')), 'new')
    for (const key of Object.keys(damaged)) assert.is((await call(page, 'delete', `foreign/${key}`)).result, true, key)
  })

  inTabs("the error for an oversized key contains the database's full name", async () => {
    assertRejected(
      await call(page, 'set', 'k'.repeat(5_000), ''),
      'STORAGE_TOO_LARGE',
      /^The IndexedDB database ".*" limits a key to /,
    )
  })

  inTabs('a write over the quota is rejected, and nothing changes', async () => {
    const quota = (quotaSize?: number) =>
      cdp.send('Storage.overrideQuotaForOrigin', {
        origin: new URL(site.url).origin,
        ...(quotaSize !== undefined && { quotaSize }),
      })
    const value = randomBytes(50_000).toString('base64') // incompressible, because the browser compresses stored values
    await quota(1_000)
    let writes = 0
    let response: Reply = {}
    await until(async () => {
      response = await call(page, 'set', `large ${++writes}`, value) // the browser caches the available quota for seconds
      return response.code !== undefined
    })
    assertRejected(response, 'STORAGE_UNWRITABLE', /quota.*Nothing was written/)
    assert.equal(await call(page, 'get', `large ${writes}`), { result: undefined })
    await quota()
    assert.is(typeof (await call(page, 'set', 'key', value)).result, 'string')
  })

  inTabs('storage calls in a frame with an opaque origin fail and explain what to allow', async () => {
    const frame = `new Promise((resolve) => {
      const frame = Object.assign(document.createElement('iframe'), { onload: resolve, src: '/', sandbox: 'allow-scripts' })
      document.body.append(frame)
    })`
    await page.evaluate(frame)
    const sandboxed = page.frames()[1]
    const response = await sandboxed?.evaluate<Reply>(`actions.open('${name}'), actions.call('get', 'key')`)
    assertRejected(response ?? {}, 'STORAGE_UNREADABLE', /Allow the site to store data/)
  })

  inTabs("the storage's secret is a key that no script can read", async () => {
    const { bits, ...exports } = await act<Record<string, string>>(page, 'exports')
    assert.is(bits, 'InvalidAccessError')
    assert.equal(Object.keys(exports), ['raw', 'jwk'])
    // Chromium versions differ in what they check first: whether keys of this type can be exported, or whether this key is extractable.
    for (const refusal of Object.values(exports)) assert.match(refusal, /^(NotSupported|InvalidAccess)Error$/)
  })

  inTabs('a change is reported even without a message from the tab that made it', async () => {
    await act(other, 'silence')
    await call(other, 'set', 'unannounced', 'value')
    await until(async () => (await act<string[]>(page, 'received')).includes('unannounced'))
  })

  inTabs('a watcher that has fallen behind the change log is notified of a gap', async () => {
    await call(other, 'set', 'before', 'value')
    await until(async () => (await act<string[]>(page, 'received')).includes('before'))
    await act(other, 'hold', name)
    for (const key of ['cut', 'after']) await act(other, 'cutLog', key)
    await until(async () => (await act<string[]>(page, 'received')).includes('after'))
    assert.ok((await act<string[]>(page, 'received')).includes('gap'))
  })

  inTabs('a page restored from the back/forward cache is first notified of a gap', async () => {
    await act(page, 'silence') // a message would evict the other page from the back/forward cache
    await other.goto(`${site.url}?elsewhere`)
    await call(page, 'set', 'meanwhile', 'value')
    await other.goBack({ waitUntil: 'commit' })
    await until(async () => (await act<string[]>(other, 'received')).includes('meanwhile'))
    assert.is((await act<string[]>(other, 'received')).at(-2), 'gap')
  })

  inTabs('expired rows are removed, and the change log stays bounded', async () => {
    await call(other, 'set', 'brief', 'value', { ttlMs: 1 })
    for (let write = 0; write < 100; write++) await call(other, 'set', 'key', 'value')
    await act(page, 'hold', name)
    assert.is(await act(page, 'count', 'records'), 1)
  })
}
