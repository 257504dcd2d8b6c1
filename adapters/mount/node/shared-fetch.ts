import { createNodeFetch, type NodeFetch } from './fetch.ts'

let shared: NodeFetch | undefined

/** The connections that all handlers of this process share, made with the first request. */
export function sharedNodeFetch(): NodeFetch {
  shared ??= createNodeFetch()
  return shared
}
