FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md CHANGELOG.md LICENSE NOTICE ./
COPY langmemory langmemory
COPY examples examples
RUN python -m venv /opt/langmemory && /opt/langmemory/bin/pip install --no-cache-dir ".[server,postgres]"

FROM python:3.13-slim
RUN useradd --system --uid 10001 langmemory && install -d -o langmemory -m 700 /data
COPY --from=build /opt/langmemory /opt/langmemory
ENV PATH=/opt/langmemory/bin:$PATH MEMORY_DB_PATH=/data/memory.db
USER langmemory
WORKDIR /data
VOLUME /data
EXPOSE 8765
HEALTHCHECK --start-period=10s --timeout=5s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/healthz', timeout=4)"]
ENTRYPOINT ["langmemory"]
CMD ["serve", "--host", "0.0.0.0"]
