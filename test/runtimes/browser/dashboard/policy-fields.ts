import type { Browser, Locator, Page } from 'playwright-core'
import { assert, type Suite } from '../../../support/suite.ts'
import { fill } from './fill.ts'
import { type DashboardServer, serveDashboard } from './site.ts'
import { goTo, visit } from './visit.ts'

/** Tests the key, group, connection, combo, and settings fields that determine where requests may go. */
export function addPolicyFieldTests(test: Suite<{ browser?: Browser }>): void {
  test('the forms add and remove connection tags and the tags that keys and groups require', async ({ browser }) => {
    await withPage(browser, async ({ page, dialog, api }) => {
      const forms = {
        targets: { button: 'Edit: main', tags: async () => (await findNamed(api, 'main'))?.tags },
        keys: {
          button: 'Edit: bob',
          tags: async () => (await api.keys.list({ q: 'bob', values: 'none' })).keys[0]?.require,
        },
        'keys?': { button: 'Edit: team', tags: async () => (await api.groups.list()).groups[0]?.require },
      }
      for (const [link, { button, tags }] of Object.entries(forms)) {
        await edit(page, link, button)
        for (const [index, [key, value]] of (
          [
            ['zdr', 'true'],
            ['training', 'false'],
            ['region', 'eu'],
          ] as const
        ).entries()) {
          await dialog.getByRole('button', { name: 'Add tag' }).click()
          await dialog.getByLabel('Key', { exact: true }).nth(index).fill(key)
          await dialog.getByLabel('Value', { exact: true }).nth(index).fill(value)
        }
        for (const _ of ['first', 'again']) {
          await save(dialog)
          assert.equal(await tags(), { zdr: true, training: false, region: 'eu' }, link)
          await edit(page, link, button)
        }
        for (const _ of [1, 2, 3]) await dialog.getByRole('button', { name: 'Remove tag' }).first().click()
        await save(dialog)
        assert.is(await tags(), undefined, link)
      }
    })
  })

  test('a key can act for accounts, with or without a default plan', async ({ browser }) => {
    await withPage(browser, async ({ page, dialog, api }) => {
      const { id } = (await api.groups.list()).groups[0] ?? { id: '' }
      for (const [choice, expected] of [
        ['Yes', {}],
        ['Yes, default plan: team', { plan: id }],
        ['No', undefined],
      ] as const) {
        await edit(page, 'keys', 'Edit: bob')
        await dialog.getByLabel('Acts for accounts').selectOption({ label: choice })
        for (const _ of ['first', 'again']) {
          await save(dialog)
          assert.equal((await api.keys.list({ q: 'bob', values: 'none' })).keys[0]?.actsFor, expected, choice)
          await edit(page, 'keys', 'Edit: bob')
        }
        await dialog.press('Escape')
      }
    })
  })

  test("a combo's connection strategy and the flags for its kind can be edited", async ({ browser }) => {
    await withPage(browser, async ({ page, dialog, api }) => {
      const fast = async () => (await api.combos.list()).combos.find(({ name }) => name === 'fast')
      await edit(page, 'combos', 'Edit: fast')
      assert.is(await dialog.getByLabel(/vectors are compatible|may be billed/).count(), 0)
      await dialog.getByLabel('Connection strategy').selectOption('Least cost')
      await dialog.getByLabel(/^Hedge/).check()
      for (const _ of ['first', 'again']) {
        await save(dialog)
        const { connectionStrategy, hedge, sameVectors } = (await fast()) ?? {}
        assert.equal([connectionStrategy, hedge, sameVectors], ['least-cost', true, undefined])
        await edit(page, 'combos', 'Edit: fast')
      }
      await dialog.getByLabel('Connection strategy').selectOption('Default')
      await dialog.getByLabel(/^Hedge/).uncheck()
      await dialog.getByLabel('Kind', { exact: true }).selectOption('Embeddings')
      await dialog.getByLabel(/vectors are compatible/).check()
      await save(dialog)
      const { connectionStrategy, hedge, sameVectors, kind } = (await fast()) ?? {}
      assert.equal([connectionStrategy, hedge, sameVectors, kind], [undefined, false, true, 'embedding'])
    })
  })

  test('the settings control whether requests may bring their own model lists', async ({ browser }) => {
    await withPage(browser, async ({ page, api }) => {
      await goTo(page, '#/settings')
      await page.getByLabel('Allow requests with their own list of models').uncheck()
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Saved.').waitFor()
      assert.is((await api.settings.get()).allowRequestModels, false)
    })
  })
}

interface Opened {
  page: Page
  dialog: Locator
  api: DashboardServer['gateway']['api']
}

async function withPage(browser: Browser | undefined, use: (opened: Opened) => Promise<void>): Promise<void> {
  const server = await serveDashboard()
  await fill(server)
  const { page, faults, close } = await visit(browser as Browser, server.url) // launched by `before`
  await use({ page, dialog: page.getByRole('dialog'), api: server.gateway.api })
  assert.equal(faults, [])
  await close()
  await server.close()
}

const findNamed = async (api: Opened['api'], wanted: string) =>
  (await api.connections.list()).connections.find(({ name }) => name === wanted)

/** Opens a record's form with the stored values. */
async function edit(page: Page, link: string, button: string): Promise<void> {
  await page.keyboard.press('Escape')
  await goTo(page, '#/nowhere')
  await goTo(page, `#/${link}`)
  await page.getByRole('button', { name: button, exact: true }).click()
  await page.getByRole('dialog').waitFor()
}

async function save(dialog: Locator): Promise<void> {
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
}
