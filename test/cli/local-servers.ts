import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { tryParseJson } from '../../src/lib/json.ts'

/** A fake local model server with the real server's wire format. */
interface LocalServer {
  /** Its default port. */
  port: number
  models: string[]
  /** Returns the response to `GET /v1/models`. */
  list(models: readonly string[]): object
  /** The response to an unknown path. */
  unknownPath: [status: number, body: object]
  /** Returns the response to an unknown model. Omitted if the server has only one model and ignores the name. */
  unknownModel?: (model: string) => object
  /** The required API key, and the response to a request without it. */
  key?: [value: string, refusal: object]
}

export const VLLM_KEY = 'token-abc123'

/**
 * The responses in the servers' documentation: https://docs.ollama.com/api/openai-compatibility, https://lmstudio.ai/docs/developer/openai-compat,
 * https://github.com/ggml-org/llama.cpp/tree/master/tools/server, https://docs.vllm.ai/en/stable/serving/openai_compatible_server.html
 */
const servers = {
  ollama: {
    port: 11_434,
    models: ['llama3.2:latest', 'nomic-embed-text:latest'],
    list: (models) => ({
      object: 'list',
      data:
        models.length > 0
          ? models.map((id) => ({ id, object: 'model', created: 1_721_000_000, owned_by: 'library' }))
          : null,
    }),
    unknownPath: [404, { error: 'path not found' }],
    unknownModel: (model) => ({
      error: {
        message: `model "${model}" not found, try pulling it first`,
        type: 'api_error',
        param: null,
        code: null,
      },
    }),
  },
  lmstudio: {
    port: 1_234,
    models: ['qwen/qwen3-4b-2507', 'text-embedding-nomic-embed-text-v1.5'],
    list: (models) => ({
      data: models.map((id) => ({ id, object: 'model', owned_by: 'organization_owner' })),
      object: 'list',
    }),
    unknownPath: [200, { error: 'Unexpected endpoint or method. (GET /models). Returning 200 anyway' }],
    unknownModel: () => ({
      error: { message: 'No model found', type: 'invalid_request_error', param: 'model', code: 'model_not_found' },
    }),
  },
  llama: {
    port: 8_080,
    models: ['qwen3'],
    list: (models) => ({
      models: models.map((name) => ({
        name,
        model: name,
        modified_at: '',
        size: '',
        digest: '',
        type: 'model',
        capabilities: ['completion'],
      })),
      object: 'list',
      data: models.map((id) => ({
        id,
        aliases: [id],
        tags: [],
        object: 'model',
        created: 1_791_322_978,
        owned_by: 'llamacpp',
        meta: {
          vocab_type: 2,
          n_vocab: 151_936,
          n_ctx_train: 40_960,
          n_embd: 2_560,
          n_params: 4_022_468_096,
          size: 2_491_465_728,
        },
      })),
    }),
    unknownPath: [404, { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } }],
  },
  vllm: {
    port: 8_000,
    models: ['Qwen/Qwen3-4B'],
    list: (models) => ({
      object: 'list',
      data: models.map((id) => ({
        id,
        object: 'model',
        created: 1_739_935_000,
        owned_by: 'vllm',
        root: id,
        parent: null,
        max_model_len: 40_960,
        permission: [
          {
            id: `modelperm-${id}`,
            object: 'model_permission',
            allow_sampling: true,
            organization: '*',
            is_blocking: false,
          },
        ],
      })),
    }),
    unknownPath: [404, { detail: 'Not Found' }],
    unknownModel: (model) => ({
      error: { message: `The model \`${model}\` does not exist.`, type: 'NotFoundError', param: 'model', code: 404 },
    }),
    key: [VLLM_KEY, { error: 'Unauthorized' }],
  },
} satisfies Record<string, LocalServer>

export type LocalName = keyof typeof servers

export interface LocalServers {
  /** The fake servers' ports, by the real servers' default ports. */
  ports: Record<number, number>
  /** Each server's models, which tests may change. */
  models: Record<LocalName, string[]>
  /** `true` makes `llama` respond as if it were still loading its model. */
  isLoading: boolean
  close(): void
}

/** Starts all servers, each on a free loopback port. */
export async function startLocalServers(): Promise<LocalServers> {
  const started: Server[] = []
  const all: LocalServers = {
    ports: {},
    models: { ollama: [], lmstudio: [], llama: [], vllm: [] },
    isLoading: false,
    close() {
      for (const server of started) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
  for (const [name, local] of Object.entries(servers) as [LocalName, LocalServer][]) {
    all.models[name] = [...local.models]
    const server = createServer((request, response) => void respond(name, local, { request, response, all }))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    all.ports[local.port] = (server.address() as AddressInfo).port
    started.push(server)
  }
  return all
}

async function respond(
  name: LocalName,
  { list, unknownPath, unknownModel, key }: LocalServer,
  { request, response, all }: { request: IncomingMessage; response: ServerResponse; all: LocalServers },
): Promise<void> {
  const send = (status: number, body: object) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
  const { model = '' }: { model?: string } = Object(tryParseJson(await text(request)))
  if (key && request.headers.authorization !== `Bearer ${key[0]}`) return send(401, key[1])
  if (name === 'llama' && all.isLoading)
    return send(503, { error: { message: 'Loading model', type: 'unavailable_error', code: 503 } })
  const requested = `${request.method} ${request.url}`
  if (requested === 'GET /v1/models') return send(200, list(all.models[name]))
  if (requested !== 'POST /v1/chat/completions') return send(...unknownPath)
  if (unknownModel && !all.models[name].includes(model)) return send(404, unknownModel(model))
  send(200, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_791_322_978,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: `Hello from ${name}` }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 },
  })
}
