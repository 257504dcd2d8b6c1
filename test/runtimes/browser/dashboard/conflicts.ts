import type { Browser, Page } from 'playwright-core'
import { assert, type Suite } from '../../../support/suite.ts'
import { fill } from './fill.ts'
import { type DashboardServer, serveDashboard } from './site.ts'
import { goTo, until, visit } from './visit.ts'

type Api = DashboardServer['gateway']['api']

/** An edit on a record's page while someone else changes the record. */
interface Conflict {
  name: string
  link: string
  /** Opens the page, and edits a field. */
  begin: (page: Page) => Promise<unknown>
  /** Changes the record as another user. */
  theirs: (api: Api) => Promise<unknown>
  /** The page's message about the change. */
  message: string
  /** The button that saves. */
  button: string
  /** A text field that was edited, and its text. */
  typed?: readonly [label: string, value: string]
  /** Returns the record after the user has saved it again. */
  mine: (api: Api) => Promise<unknown>
  becomes: unknown
}

const edit = (button: string, label: string, value: string) => async (page: Page) => {
  await page.getByRole('button', { name: button, exact: true }).click()
  await page.getByRole('dialog').getByLabel(label, { exact: true }).first().fill(value)
}
const open = (button: string) => async (page: Page) => {
  await page.getByRole('button', { name: button, exact: true }).click()
  await page.getByRole('dialog').waitFor()
}
const findByName = async <T extends { name?: string }>(list: Promise<readonly T[]>, name: string) =>
  (await list).find((item) => item.name === name)

const getKey = (api: Api) =>
  findByName(
    api.keys.list({ values: 'none' }).then(({ keys }) => keys),
    'bob',
  )
const getGroup = (api: Api) =>
  findByName(
    api.groups.list().then(({ groups }) => groups),
    'team',
  )
const getCombo = (api: Api) =>
  findByName(
    api.combos.list().then(({ combos }) => combos),
    'fast',
  )
const getConnection = (api: Api) =>
  findByName(
    api.connections.list().then(({ connections }) => connections),
    'spare',
  )

const conflicts: Conflict[] = [
  {
    name: 'a key',
    link: '#/keys',
    begin: edit('Edit: bob', 'Allowed models', 'mine'),
    theirs: async (api) => api.keys.update((await getKey(api))?.id ?? '', { models: ['theirs'] }),
    message: 'models changed from ["fast"] to ["theirs"] (yours: ["mine"])',
    button: 'Save',
    typed: ['Allowed models', 'mine'],
    mine: async (api) => (await getKey(api))?.models,
    becomes: ['mine'],
  },
  {
    name: 'a group',
    link: '#/keys',
    begin: edit('Edit: team', 'Concurrent requests', '7'),
    theirs: async (api) => api.groups.update((await getGroup(api))?.id ?? '', { models: ['theirs'] }),
    message: 'models changed from – to ["theirs"] (yours: –)',
    button: 'Save',
    typed: ['Concurrent requests', '7'],
    mine: async (api) => (await getGroup(api))?.limits?.parallel,
    becomes: 7,
  },
  {
    name: 'a combo',
    link: '#/combos',
    begin: edit('Edit: fast', 'Max attempts', '2'),
    theirs: async (api) => api.combos.update((await getCombo(api))?.id ?? '', { strategy: 'random' }),
    message: 'strategy changed from "fallback" to "random" (yours: "fallback")',
    button: 'Save',
    typed: ['Max attempts', '2'],
    mine: async (api) => [(await getCombo(api))?.maxAttempts, (await getCombo(api))?.strategy],
    becomes: [2, 'fallback'],
  },
  {
    name: 'a connection',
    link: '#/targets',
    begin: edit('Edit: spare', 'Name', 'spare'),
    theirs: async (api) => api.connections.update((await getConnection(api))?.id ?? '', { priority: 9 }),
    message: 'priority changed from – to 9 (yours: –)',
    button: 'Save',
    typed: ['Name', 'spare'],
    mine: async (api) => (await getConnection(api))?.priority,
    becomes: undefined,
  },
  {
    name: 'the settings',
    link: '#/settings',
    begin: (page) => page.getByLabel('Max attempts per request').fill('4'),
    theirs: (api) => api.settings.update({ maxAttempts: 9 }),
    message: 'maxAttempts changed from 3 to 9 (yours: 4)',
    button: 'Save',
    typed: ['Max attempts per request', '4'],
    mine: async (api) => (await api.settings.get()).maxAttempts,
    becomes: 4,
  },
  {
    name: 'an alias',
    link: '#/combos',
    async begin(page) {
      await page.getByLabel('Alias', { exact: true }).fill('cheap')
      await page.getByLabel('Points to').fill('groq/mine')
    },
    theirs: (api) => api.aliases.set({ alias: 'cheap', model: 'groq/theirs' }),
    message: 'model changed from "openai/gpt-5-mini" to "groq/theirs" (yours: "groq/mine")',
    button: 'Add alias',
    typed: ['Points to', 'groq/mine'],
    mine: async (api) => (await api.aliases.list()).aliases.cheap,
    becomes: 'groq/mine',
  },
  {
    name: 'a new alias',
    link: '#/combos',
    async begin(page) {
      await page.getByLabel('Alias', { exact: true }).fill('dear')
      await page.getByLabel('Points to').fill('groq/mine')
    },
    theirs: (api) => api.aliases.set({ alias: 'dear', model: 'groq/theirs' }),
    message: 'Someone else just added this alias',
    button: 'Add alias',
    typed: ['Points to', 'groq/mine'],
    mine: async (api) => (await api.aliases.list()).aliases.dear,
    becomes: 'groq/mine',
  },
  {
    name: 'a deleted alias',
    link: '#/combos',
    begin: async () => {},
    theirs: (api) => api.aliases.set({ alias: 'cheap', model: 'groq/more-of-theirs' }),
    message: 'model changed from "groq/mine" to "groq/more-of-theirs"',
    button: 'Delete: cheap',
    mine: async (api) => Object.keys((await api.aliases.list()).aliases),
    becomes: ['dear'],
  },
  {
    name: 'a deleted custom model',
    link: '#/models',
    begin: async () => {},
    theirs: (api) => api.customModels.put({ providerAlias: 'openai', id: 'own', type: 'llm', prices: { input: 2 } }),
    message: 'prices changed from {"input":1} to {"input":2}',
    button: 'Delete: own',
    mine: async (api) => (await api.customModels.list()).models,
    becomes: [],
  },
  {
    name: 'a deleted combo',
    link: '#/combos',
    begin: open('Delete: fast'),
    theirs: async (api) => api.combos.update((await getCombo(api))?.id ?? '', { strategy: 'random' }),
    message: 'strategy changed from "fallback" to "random"',
    button: 'Delete',
    mine: getCombo,
    becomes: undefined,
  },
  {
    name: 'a deleted connection',
    link: '#/targets',
    begin: open('Delete: spare'),
    theirs: async (api) => api.connections.update((await getConnection(api))?.id ?? '', { priority: 9 }),
    message: 'priority changed from – to 9',
    button: 'Delete',
    mine: getConnection,
    becomes: undefined,
  },
  {
    name: 'a deleted key',
    link: '#/keys',
    begin: open('Delete: old'),
    theirs: async (api) => {
      const old = await findByName(
        api.keys.list({ values: 'none' }).then(({ keys }) => keys),
        'old',
      )
      await api.keys.update(old?.id ?? '', { models: ['theirs'] })
    },
    message: 'models changed from – to ["theirs"]',
    button: 'Delete',
    mine: (api) =>
      findByName(
        api.keys.list({ values: 'none' }).then(({ keys }) => keys),
        'old',
      ),
    becomes: undefined,
  },
]

/** Returns two functions: after the first one is called, reloads on the page wait until the second one is. */
async function holdReloads(page: Page): Promise<{ hold: () => void; release: () => void }> {
  const requested = new Set<string>()
  let release = () => {}
  let released = Promise.resolve()
  await page.route('**/api/**', async (route) => {
    const request = route.request()
    const { pathname } = new URL(request.url())
    if (request.method() === 'GET' && requested.has(pathname)) await released
    requested.add(pathname)
    await route.continue()
  })
  const hold = () => {
    requested.clear()
    released = new Promise((resolve) => {
      release = resolve
    })
  }
  return { hold, release: () => release() }
}

/** Tests concurrent edits by two users. */
export function addConflictTests(test: Suite<{ browser?: Browser }>): void {
  test("a conflicting edit shows both versions, keeps the user's input, and succeeds when retried", {
    timeoutMs: 300_000,
  }, async ({ browser }) => {
    const server = await serveDashboard()
    const { api } = server.gateway
    await fill(server)
    await api.settings.update({ maxAttempts: 3 })
    await api.customModels.create({ providerAlias: 'openai', id: 'own', type: 'llm', prices: { input: 1 } })
    const { page, faults, close } = await visit(browser as Browser, server.url) // launched by `before`
    const reloads = await holdReloads(page)
    for (const { name, link, begin, theirs, message, button, typed, mine, becomes } of conflicts) {
      await goTo(page, '#/')
      await goTo(page, link)
      await begin(page)
      await theirs(api)
      const before = await mine(api)
      reloads.hold() // the page shows the differences even before it has reloaded the record
      const place = (await page.getByRole('dialog').count()) > 0 ? page.getByRole('dialog') : page.locator('main')
      await place.getByRole('button', { name: button, exact: true }).click()
      if (name === 'a deleted key') {
        await place.getByText('This key was used today').waitFor()
        await place.getByLabel('Name').fill('old')
        await place.getByRole('button', { name: button, exact: true }).click()
      }
      await place.getByRole('alert').getByText(message).waitFor()
      assert.equal(await mine(api), before, `${name}: the conflicting change is not saved`)
      if (typed) assert.is(await place.getByLabel(typed[0], { exact: true }).first().inputValue(), typed[1], name)
      await place.getByRole('button', { name: button, exact: true }).click()
      await page.getByRole('alert').waitFor({ state: 'detached' })
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await until(async () => JSON.stringify(await mine(api)) === JSON.stringify(becomes))
      assert.equal(await mine(api), becomes, name)
      reloads.release()
    }
    assert.equal(
      faults.filter((fault) => !/status of 409/.test(fault)),
      [],
    )
    await close()
    await server.close()
  })
}
