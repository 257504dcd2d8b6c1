import { readPages } from '../../docs/pages.ts'
import { assert, suite } from '../../support/suite.ts'
import { imageVendors, openImages } from './vendors.ts'

const test = suite('the images page')

const page = readPages().find(({ path }) => path === 'docs/src/content/docs/reference/images.md')
const scripts = (page?.blocks ?? []).filter(({ language }) => language === 'sh').map(({ code }) => code)

test('the commands on the images page create a combo and request an image', async () => {
  const { api, post, send } = await openImages()
  let run = 0
  for (const script of scripts) {
    const [, name, models = '', kind] = /combos create (\S+) (.+) --kind (\w+)/.exec(script) ?? []
    const [, path, body] = /curl http:\/\/127\.0\.0\.1:4000(\S+) [\s\S]* -d '(.+)'/.exec(script) ?? []
    if (name !== undefined && kind === 'image') {
      await api.combos.create({ name, models: models.split(' '), kind })
      assert.is((await send(name, {})).status, 200)
      run++
    }
    if (path === undefined || body === undefined) continue
    const response = await post(path, body)
    assert.is(response.status, 200, await response.clone().text())
    run++
  }
  assert.is(run, 2)
})

test('each field that the images page lists for a vendor reaches the vendor', async () => {
  const rows = (page?.text ?? '').matchAll(
    /^\| (xAI|Together|OpenRouter|Black Forest Labs) +\|(?:[^|]*\|){5}([^|]*)\|$/gm,
  )
  const names: Record<string, 'xai' | 'together' | 'openrouter' | 'bfl'> = { 'Black Forest Labs': 'bfl' }
  let found = 0
  for (const [, vendor = '', cell = ''] of rows) {
    const { model } = imageVendors[names[vendor] ?? (vendor.toLowerCase() as 'xai')]
    for (const [, field = ''] of cell.matchAll(/`(\w+)`/g)) {
      const { send } = await openImages({ respond: () => new Response('{}', { status: 401 }) })
      const response = await send(model, { [field]: field === 'output_format' ? 'png' : field === 'user' ? 'u' : 7 })
      const warned = response.headers.get('x-signalbox-warning') ?? ''
      assert.not.match(warned, new RegExp(`dropped:${field}`))
      found++
    }
  }
  assert.ok(found > 15, String(found))
})
