/** The members of `litellm_params` that say which account and model a deployment is, and what it costs. */
export const READ_PARAMS = `
  model custom_llm_provider api_key api_base base_url api_version weight aws_access_key_id aws_secret_access_key aws_session_token
  aws_region_name vertex_project vertex_location vertex_credentials input_cost_per_token output_cost_per_token cache_read_input_token_cost
  cache_creation_input_token_cost
`
  .trim()
  .split(/\s+/)

/** Why nothing is made of other members. */
export const PARAM_REASONS: Readonly<Record<string, string>> = {
  rpm: "A target has no limit of its own: it is used as the deployment's share, and a provider's 429 sends the request on.",
  tpm: "A target has no limit of its own: it is used as the deployment's share, and a provider's 429 sends the request on.",
  timeout: 'Time-outs belong to combos and to the settings.',
  stream_timeout: 'Time-outs belong to combos and to the settings.',
  max_retries: 'Attempts belong to combos and to the settings.',
  input_cost_per_second: 'Prices by the second go into "prices" of the connection, as "second".',
}
