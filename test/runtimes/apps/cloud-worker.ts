import { type DurableObjectNamespace, durableObjectStorage } from '../../../adapters/storage/durable-object.ts'
import { type KvNamespace, kvStorage } from '../../../adapters/storage/kv.ts'
import { type CloudProxy, createCloudProxy } from '../../../src/features/cloud-sync/proxy/proxy.ts'
import type { Storage } from '../../../src/types.ts'

export { SignalboxStore } from '../../../adapters/storage/durable-object.ts'

interface Env {
  KV: KvNamespace
  STORE: DurableObjectNamespace
  SECRET: string
  ENROLLMENT_TOKEN: string
}

const stores: Readonly<Record<string, (env: Env) => Storage>> = {
  kv: ({ KV }) => kvStorage(KV),
  object: ({ STORE }) => durableObjectStorage(STORE, { name: 'cloud' }),
}

const proxies = new Map<string, CloudProxy>()

/** Two cloud proxies, each on its own store, selected by hostname. A request to `new.…` restarts the proxy. */
export default {
  fetch(request: Request, env: Env): Promise<Response> {
    const [first, name = ''] = new URL(request.url).hostname.split('.')
    const open = stores[name]
    if (!open) throw new Error(`There is no store "${name}".`)
    const storage = open(env)
    const known = first === 'new' ? undefined : proxies.get(name)
    const proxy =
      known ?? createCloudProxy({ storage, secret: env.SECRET, enrollmentToken: env.ENROLLMENT_TOKEN, logger: false })
    proxies.set(name, proxy)
    return proxy.fetch(request)
  },
}
