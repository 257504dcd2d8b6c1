/** What a request was given on its way to the target, to be taken back from the answer before the client sees it. */
export interface Restoration {
  /** The client's name of a tool by the one that the target was told. */
  toolNames: ReadonlyMap<string, string>
  /** Tools of free text that were sent as functions with one `input`, by the client's name. */
  freeFormTools: ReadonlySet<string>
  /** The tool that stands for a structured answer: its arguments are the answer's text. */
  outputTool?: string
}
