import { durableObjectStorage, SignalboxStore } from 'signalbox/storage/durable-object'
import { toWorkersHandler } from 'signalbox/workers'
import { openGateway } from './open-gateway.mjs'

export { SignalboxStore } // the class of the Durable Object that stores the data
export default toWorkersHandler((env) => openGateway(durableObjectStorage(env.STORE), env))
