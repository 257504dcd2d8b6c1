import { readPages } from '../../docs/pages.ts'
import { assert, suite } from '../../support/suite.ts'
import { openWeb } from './open-web.ts'

const test = suite('the search and fetch page')

const page = readPages().find(({ path }) => path === 'docs/src/content/docs/reference/web-search.md')
const scripts = (page?.blocks ?? []).filter(({ language }) => language === 'sh').map(({ code }) => code)

test("the search and fetch page's commands work, and responses have the fields it shows", async () => {
  const web = await openWeb()
  const shown = (page?.blocks ?? []).filter(({ language }) => language === 'json').map(({ code }) => JSON.parse(code))
  let requestCount = 0
  for (const script of scripts) {
    const [, name = '', models = '', kind] = /combos create (\S+) ([a-z ]+) --kind (\w+)/.exec(script) ?? []
    if (kind === 'webSearch') await web.api.combos.create({ name, models: models.split(' '), kind })
    const [, path, body] = /curl http:\/\/127\.0\.0\.1:4000(\S+) [\s\S]* -d '(.+)'/.exec(script) ?? []
    if (path === undefined || body === undefined) continue
    const response = await web.post(path, body)
    assert.is(response.status, 200, await response.clone().text())
    const members = Object.keys(await response.json())
    const example = shown[requestCount++]
    for (const member of members) assert.ok(member in example, `the page doesn't show ${member}`)
  }
  assert.is(requestCount, 2)
})

/** The columns of the options table. */
const columns = [
  { path: '/v1/search', body: { query: 'q' } },
  { path: '/v1/web/fetch', body: { url: 'https://found.example/a' } },
]

test('clients can set each vendor option listed on the search and fetch page', async () => {
  const web = await openWeb()
  const text = page?.text ?? ''
  const rows = text.slice(text.indexOf('## Options of vendors')).matchAll(/^\| (\w+) +\|(.*)\|(.*)\|$/gm)
  let found = 0
  for (const [, vendor = '', ...cells] of rows) {
    if (vendor === 'Vendor') continue
    for (const [index, cell] of cells.entries()) {
      const { path = '', body } = columns[index] ?? {}
      for (const [, option = ''] of cell.matchAll(/`(\w+)`/g)) {
        const callOptions = { model: vendor.toLowerCase(), ...body, provider_options: { [option]: 1e9 } }
        const { error } = await (await web.post(path, callOptions)).json()
        assert.is(error?.param, `provider_options.${option}`, `${vendor} ${path} ${option}`)
        found++
      }
    }
  }
  assert.ok(found > 45, `${found}`)
})
