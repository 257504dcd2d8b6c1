import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Validator } from '@cfworker/json-schema'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { applyConfig, listConfigWarnings, readConfigFile } from '../../src/cli/config-file.ts'
import { createConfigSchema } from '../../src/cli/config-schema/config-schema.ts'
import { parseYaml } from '../../src/cli/yaml.ts'
import { createGateway } from '../../src/gateway.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'
import { runHere } from './run-here.ts'

/** Creates a suite whose tests share a `folder` that is removed after them. */
export function importSuite(name: string) {
  const test = suite(name, { folder: '' })
  test.before(async (context) => {
    context.folder = await mkdtemp(join(tmpdir(), 'signalbox-import-test-'))
  })
  test.after(({ folder }) => rm(folder, { recursive: true, force: true }))
  return test
}

let count = 0
/** Returns an unused path with this ending. */
export const fresh = (folder: string, end: string) => join(folder, `${++count}${end}`)

export async function writeImported(folder: string, end: string, content: string): Promise<string> {
  const path = fresh(folder, end)
  await writeFile(path, content)
  return path
}

export const run = (...args: string[]) => runHere('http://nowhere.test', ['import', ...args])

/** Returns an upstream's response for a path with this ending. */
function requestModel(pathname: string): object {
  if (pathname.endsWith('/embeddings'))
    return {
      object: 'list',
      model: 'm',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    }
  if (!pathname.endsWith('/messages')) return chatResponse()
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
 * Imports a file, and starts a gateway with the result. Resolves to the output, the warnings, and functions that send requests and return the
 * upstream calls. Models in `failing` fail every other call, and models in `down` fail every call.
 */
export async function startImported(folder: string, args: string[], env: Record<string, string>) {
  const out = fresh(folder, '.yaml')
  const { code, out: output, err } = await run(...args, '--out', out)
  assert.is(code, 0, err)
  const file = await readFile(out, 'utf8')
  const data = { storage: memoryStorage(), catalog: defaultCatalog, secret: 'a secret of at least 32 characters' }
  assert.equal(new Validator(createConfigSchema(), '2020-12').validate(parseYaml(file)).errors, [])
  const config = await readConfigFile(out, env)
  const warnings = [...(await applyConfig(config, data)), ...(await listConfigWarnings(config, data))]
  const requests: { url: string; key: string | null; model: unknown }[] = []
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
      requests.push({ url: request.url, key, model })
      return down.has(String(model)) || (requests.length % 2 === 1 && failing.has(String(model)))
        ? new Response('{"error":{"message":"overloaded"}}', {
            status: 503,
            headers: { 'content-type': 'application/json' },
          })
        : Response.json(requestModel(new URL(request.url).pathname))
    },
  })
  const failing = new Set<string>()
  const down = new Set<string>()
  async function send(path: string, body: object) {
    requests.length = 0
    const response = await gateway.fetch(`http://gateway.test${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    await response.text()
    return { status: response.status, asked: [...requests] }
  }
  const chat = (model: string, body: object = {}) =>
    send('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hello' }], ...body })
  return { output, file, warnings, send, chat, failing, down, api: gateway.api }
}

/** The variables that LiteLLM deployments read. */
const LITELLM_KEYS = {
  OPENAI_API_KEY: 'openai-key-1234567',
  ANTHROPIC_API_KEY: 'anthropic-key-1234567',
  AZURE_API_KEY: 'azure-key-1234567',
  AZURE_API_BASE: 'https://one.openai.azure.com/',
  AZURE_API_VERSION: '2024-10-21',
  LAB_API_KEY: 'lab-key-1234567',
  VERTEX_CREDENTIALS: 'ya29.vertex-token-1234567',
}

/** A LiteLLM `model_name`, its `litellm_params`, and other fields of its entry. */
export type LiteLlmModel = [name: string, params: object, rest?: object]

/** Creates a LiteLLM configuration with these models and other sections. */
export const litellmConfig = (models: readonly LiteLlmModel[], rest: object = {}) => ({
  model_list: models.map(([model_name, litellm_params, extra]) => ({ model_name, litellm_params, ...extra })),
  ...rest,
})

/** Returns the `litellm_params` of a model on a custom server. */
export const lab = (model: string, extra: object = {}) => ({
  model: `openai/${model}`,
  api_base: 'http://lab.test/v1',
  api_key: 'os.environ/LAB_API_KEY',
  ...extra,
})

/** Imports a LiteLLM configuration and starts a gateway with it, like `startImported`. Also returns the combos by name, and the aliases. */
export async function importedLiteLlm(folder: string, content: object) {
  const path = await writeImported(folder, '.yaml', JSON.stringify(content))
  const found = await startImported(folder, ['litellm', path], LITELLM_KEYS)
  const { combos } = await found.api.combos.list()
  const byName = Object.fromEntries(combos.map((combo) => [combo.name, combo]))
  return { ...found, combos: byName, aliases: (await found.api.aliases.list()).aliases }
}
