"""OAuth for MCP: the endpoint as a resource server, which takes the access tokens of an issuer.

`settings` says whose tokens count, `claims` what they give, `keys` and `verifier` check them, and `resource`
tells clients where to get one (RFC 9728). Signatures are checked by PyJWT.
"""
