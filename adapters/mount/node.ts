export type { ExchangeGateway } from '../types/gateway.ts'
export { createNodeFetch, type NodeFetch, type NodeFetchOptions } from './node/fetch.ts'
export { type NodeHandler, type NodeHandlerOptions, toNodeHandler } from './node/handler.ts'
export { type NodeServer, type ServeNodeOptions, serveNode } from './node/serve.ts'
