import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { applyConfig, configWarnings, readConfigFile } from '../../src/cli/config-file.ts'
import { createGateway } from '../../src/gateway.ts'
import { defaultCatalog } from '../../src/providers/catalog.ts'
import { chatAnswer } from '../pipeline/support/answers.ts'
import { assert } from '../support/suite.ts'
import { runHere } from './run-here.ts'

let count = 0
/** A path that nobody has used. */
export const fresh = (folder: string, end: string) => join(folder, `${++count}${end}`)

export async function written(folder: string, end: string, content: string): Promise<string> {
  const path = fresh(folder, end)
  await writeFile(path, content)
  return path
}

export const run = (...args: string[]) => runHere('http://nowhere.test', ['import', ...args])

/** Imports, starts a gateway with the file that was written, and resolves to what it then says of itself and whom it asks. */
export async function started(folder: string, args: string[], env: Record<string, string>) {
  const out = fresh(folder, '.yaml')
  const { code, out: said, err } = await run(...args, '--out', out)
  assert.is(code, 0, err)
  const file = await readFile(out, 'utf8')
  const data = { storage: memoryStorage(), catalog: defaultCatalog, secret: 'a secret of at least 32 characters' }
  const config = await readConfigFile(out, env)
  const warnings = [...(await applyConfig(config, data)), ...(await configWarnings(config, data))]
  const asked: { url: string; key: string | null; model: unknown }[] = []
  const gateway = createGateway({
    ...data,
    logger: false,
    fetch: async (input: string | URL | Request, init?: RequestInit) => {
      const request = new Request(input, init)
      const { model } = JSON.parse(await request.text())
      const key = request.headers.get('authorization')?.replace('Bearer ', '') ?? request.headers.get('api-key')
      asked.push({ url: request.url, key, model })
      return asked.length % 2 === 1 && failing.has(String(model))
        ? new Response('{"error":{"message":"overloaded"}}', {
            status: 503,
            headers: { 'content-type': 'application/json' },
          })
        : Response.json(chatAnswer())
    },
  })
  const failing = new Set<string>()
  async function chat(model: string, body: object = {}) {
    asked.length = 0
    const response = await gateway.fetch('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }], ...body }),
    })
    await response.text()
    return { status: response.status, asked: [...asked] }
  }
  return { said, file, warnings, chat, failing, api: gateway.api }
}
