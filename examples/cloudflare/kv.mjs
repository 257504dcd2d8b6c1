import { kvStorage } from 'signalbox/storage/kv'
import { toWorkersHandler } from 'signalbox/workers'
import { openGateway } from './open-gateway.mjs'

export default toWorkersHandler((env) => openGateway(kvStorage(env.KV), env))
