/** Changes of a request that have to be undone in its answer. */
export interface Restoration {
  /** The client's names of tools, by the names that the target got. */
  toolNames: ReadonlyMap<string, string>
  /** The client's names of free-form tools that were sent as functions with one `input`. */
  freeFormTools: ReadonlySet<string>
  /** Of the calls in the conversation: a client that pairs results by id alone takes a new call of the same id for an old one. */
  callIds: ReadonlySet<string>
  /** The tool whose arguments are the structured answer. */
  outputTool?: string
  /** Is the structured answer the one member of an object? */
  isWrapped?: true
}
