import { fileStorage } from '../../adapters/storage/file.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { catalog } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { temporaryFolder } from './support/folder.ts'
import { release } from './support/release.ts'

/** An earlier commit whose file storage had no database. */
const FORMER = 'ccf378e530d01ad8ceb8a1e5592ecf89f99040ad'

const test = suite('a folder from a release without a database')

async function status(gateway: Gateway, key?: string): Promise<number> {
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { 'x-api-key': key }) }
  const body = JSON.stringify({ model: 'one/m', messages: [{ role: 'user', content: 'hello' }] })
  const response = await gateway.fetch(
    new Request('http://gateway/v1/chat/completions', { method: 'POST', headers, body }),
  )
  await response.text()
  return response.status
}

test('a folder from a release without a database keeps its keys, credentials, and settings after an upgrade', async () => {
  const { path, remove } = await temporaryFolder()
  const former = await release(FORMER)
  const formerStorage = former.fileStorage({ path, logger: false })
  const before = former.createGateway({ storage: formerStorage, catalog, logger: false })
  await before.api.connections.create({ provider: 'one', apiKey: 'sk-one-of-the-tests' })
  const { key } = await before.api.keys.create({ name: 'made before' })
  await before.api.settings.update({ requireApiKey: true })
  await before.close()
  await formerStorage.close?.()

  const upstream = fakeUpstream(() => json(chatResponse()))
  const storage = fileStorage({ path, logger: false })
  const gateway = createGateway({ storage, catalog, fetch: upstream, logger: false })
  assert.is(await status(gateway, key), 200)
  assert.is(upstream.calls.at(-1)?.headers.get('authorization'), 'Bearer sk-one-of-the-tests')
  assert.is(await status(gateway), 401)
  await gateway.close()
  await storage.close?.()
  await remove()
})
