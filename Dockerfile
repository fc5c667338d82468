# One container with everything: web server, worker, embedded PostgreSQL, local embedding model.
#   docker build -t cuebase . && docker run -p 8000:8000 -v cuebase:/data cuebase
# docs/deployment.md has more, for a team too.
FROM python:3.11-slim AS build
# PyPI packages to add, such as av, without which shared links play no audio and video files.
ARG EXTRA_PACKAGES=""
COPY . /source
RUN sh /source/deploy/image/build.sh /source /opt/cuebase

FROM python:3.11-slim
RUN useradd --uid 10001 --create-home cuebase && install -d -m 700 -o cuebase /data /data/models
COPY --from=build /opt/cuebase /opt/cuebase
ENV PATH=/opt/cuebase/bin:$PATH YOUTUBE_KB_DATA_DIR=/data HF_HOME=/data/models/hub HOST=0.0.0.0 \
    PYTHONUNBUFFERED=1
USER cuebase
VOLUME /data
EXPOSE 8000
HEALTHCHECK --start-period=60s --interval=30s --timeout=5s \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/healthz')"]
CMD ["kb", "serve"]
