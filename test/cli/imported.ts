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

/** What an upstream answers at the end of its path. */
function answerAt(pathname: string): object {
  if (pathname.endsWith('/embeddings'))
    return {
      object: 'list',
      model: 'm',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    }
  if (!pathname.endsWith('/messages')) return chatAnswer()
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'hello' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
}

/**
 * Imports, starts a gateway with the file that was written, and resolves to what it then says of itself and whom it asks. Models in `failing` fail
 * at every other call, those in `down` at each.
 */
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
      const key =
        request.headers.get('authorization')?.replace('Bearer ', '') ??
        request.headers.get('api-key') ??
        request.headers.get('x-api-key')
      asked.push({ url: request.url, key, model })
      return down.has(String(model)) || (asked.length % 2 === 1 && failing.has(String(model)))
        ? new Response('{"error":{"message":"overloaded"}}', {
            status: 503,
            headers: { 'content-type': 'application/json' },
          })
        : Response.json(answerAt(new URL(request.url).pathname))
    },
  })
  const failing = new Set<string>()
  const down = new Set<string>()
  async function ask(path: string, body: object) {
    asked.length = 0
    const response = await gateway.fetch(`http://gateway.test${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    await response.text()
    return { status: response.status, asked: [...asked] }
  }
  const chat = (model: string, body: object = {}) =>
    ask('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hello' }], ...body })
  return { said, file, warnings, ask, chat, failing, down, api: gateway.api }
}
